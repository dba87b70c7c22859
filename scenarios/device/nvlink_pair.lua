--- An NVLink between two devices of a host breaks: both ends say so, and the
--- contexts on both of them fail.
-- SPDX-License-Identifier: MIT

local p = params { steps = { 32, "Training steps." } }

return scenario {
  name      = "an NVLink breaks between two devices",
  lab       = lab.netns { hosts = 2, spares = 1, devices = 2 },
  workloads = {
    job = workload.train {
      ranks = 4, steps = p.steps, step_time = "100ms", checkpoint_every = 10,
      watchdog = "3s", health = "both", health_interval = "250ms",
    },
  },
  faults    = { link = device.xid { code = 74, rank = 1, peer = 0, at = at.step(16) } },
  trials    = { baseline = 1, null = 1, fault = 1 },
  deadline  = "1min",
  expect    = {
    { "link.time_to_detect", "<",  "5s" },
    { "link.time_to_resume", "<",  "20s" },
    { "job.final_state",     "==", "baseline" },
  },
}

--- One device of eight runs at a third of its speed for a while: the whole gang
--- waits for it in every step, and nothing may restart.
-- SPDX-License-Identifier: MIT

local p = params { steps = { 32, "Training steps." } }

return scenario {
  name      = "one slow device of eight",
  lab       = lab.netns { hosts = 4, devices = 2 },
  workloads = {
    job = workload.train {
      ranks = 8, steps = p.steps, step_time = "100ms", checkpoint_every = 10,
      watchdog = "10s",
    },
  },
  faults    = {
    slow = device.slow { rank = 5, factor = 3, at = at.step(12), duration = "8 steps" },
  },
  trials    = { baseline = 1, null = 1, fault = 1 },
  deadline  = "1min",
  expect    = {
    { "slow.stop",         "==", "none" },
    { "slow.lost_compute", "<",  "60 rank*s" },
    { "job.attempts",      "==", 1 },
    { "job.final_state",   "==", "baseline" },
  },
}

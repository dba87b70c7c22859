--- A rank is killed. Somebody must notice, and training must come back.
-- SPDX-License-Identifier: MIT

local p = params {
  steps = { 32, "Training steps." },
  step_time = { "80ms", "Modelled time of one step." },
}

return scenario {
  name      = "a rank is killed",
  lab       = lab.netns { hosts = 4, spares = 1, devices = 1 },
  workloads = {
    job = workload.train {
      ranks = 4, steps = p.steps, step_time = p.step_time,
      checkpoint_every = 10, watchdog = "3s",
    },
  },
  faults    = { lost = host.kill { rank = 3, at = at.step(24) } },
  trials    = { baseline = 1, null = 1, fault = 3 },
  deadline  = "1min",
  always    = { { "job.loss", "is", "finite" } },
  expect    = {
    { "lost.time_to_detect", "<",  "2s" },
    { "lost.blame",          "==", "target" },
    { "lost.time_to_resume", "<",  "10s" },
    { "lost.lost_compute",   "<",  "60 rank*s" },
    { "job.final_state",     "==", "baseline" },
  },
}

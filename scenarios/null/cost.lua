--- What a fault costs that is armed and never fires: four trials with it and
--- four without, told apart by a rank test.
-- SPDX-License-Identifier: MIT

local p = params {
  steps  = { 60, "Training steps." },
  trials = { 4, "Baseline trials, and as many with the armed fault." },
}

return scenario {
  name      = "an armed fault that never fires costs nothing",
  lab       = lab.netns { hosts = 4, devices = 1 },
  workloads = {
    job = workload.train {
      ranks = 4, steps = p.steps, step_time = "100ms", checkpoint_every = 20,
    },
  },
  faults    = {
    never = collective.delay {
      rank = 1, delay = "1s", at = at.step(9000):inside "allreduce",
    },
  },
  trials    = { baseline = p.trials, null = p.trials, fault = 0 },
  deadline  = "1min",
  expect    = {},
}

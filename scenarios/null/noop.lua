--- Nothing is broken: what does the harness itself cost?
-- SPDX-License-Identifier: MIT

local jobs = require "lib.jobs"

local p = params {
  steps  = { 36, "Training steps." },
  trials = { 4, "Baseline trials, and as many null trials." },
}

return scenario {
  name      = "the harness costs nothing",
  lab       = lab.netns { hosts = 4, devices = 1 },
  workloads = { job = jobs.small { steps = p.steps, watchdog = "5s" } },
  faults    = { nothing = null.noop { rank = 3, at = at.step(12) } },
  trials    = { baseline = p.trials, null = p.trials, fault = 1 },
  deadline  = "1min",
  expect    = {
    { "job.attempts",    "==", 1 },
    { "job.final_state", "==", "baseline" },
  },
}

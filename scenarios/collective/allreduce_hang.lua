--- One rank never comes back from an all-reduce. Its peers wait inside; the
--- watchdog must name the one that hangs.
-- SPDX-License-Identifier: MIT

local jobs = require "lib.jobs"

local p = params { steps = { 36, "Training steps." } }

return scenario {
  name      = "a rank hangs inside an all-reduce",
  lab       = lab.netns { hosts = 4, spares = 1, devices = 1 },
  workloads = { job = jobs.small { steps = p.steps } },
  faults    = {
    hang = collective.hang { rank = 1, at = at.step(18):inside "allreduce" },
  },
  trials    = { baseline = 1, null = 1, fault = 1 },
  deadline  = "1min",
  expect    = {
    { "hang.time_to_detect", "<",  "watchdog + 20 steps" },
    { "hang.time_to_resume", "<",  "20s" },
    { "job.final_state",     "==", "baseline" },
  },
}

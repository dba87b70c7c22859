--- Every all-reduce of one rank takes longer: a fail-slow link, seen from the
--- library. Nothing may restart; the cost is what the delay adds.
-- SPDX-License-Identifier: MIT

local jobs = require "lib.jobs"

local p = params { steps = { 36, "Training steps." } }

return scenario {
  name      = "a rank's all-reduces are slow",
  lab       = lab.netns { hosts = 4, devices = 1 },
  workloads = { job = jobs.small { steps = p.steps, watchdog = "5s" } },
  faults    = {
    slow = collective.delay {
      rank = 1, delay = "200ms", at = at.step(12), duration = "5 steps",
    },
  },
  trials    = { baseline = 1, null = 1, fault = 1 },
  deadline  = "1min",
  expect    = {
    { "slow.stop",         "==", "none" },
    { "slow.lost_compute", "<",  "40 rank*s" },
    { "job.attempts",      "==", 1 },
    { "job.final_state",   "==", "baseline" },
  },
}

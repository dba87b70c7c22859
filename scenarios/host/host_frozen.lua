--- A whole host freezes for a second. That is shorter than the watchdog: the
--- job must wait, not die.
-- SPDX-License-Identifier: MIT

local jobs = require "lib.jobs"

local p = params { steps = { 36, "Training steps." } }

return scenario {
  name      = "a host freezes for a moment",
  lab       = lab.netns { hosts = 4, spares = 1, devices = 1 },
  workloads = { job = jobs.small { steps = p.steps, watchdog = "8s" } },
  faults    = {
    frozen = host.freeze { host = "h1", at = at.step(12), duration = "1s" },
  },
  trials    = { baseline = 1, null = 1, fault = 1 },
  deadline  = "1min",
  expect    = {
    { "frozen.stop",         "==", "none" },
    { "frozen.lost_compute", "<",  "30 rank*s" },
    { "job.attempts",        "==", 1 },
    { "job.final_state",     "==", "baseline" },
  },
}

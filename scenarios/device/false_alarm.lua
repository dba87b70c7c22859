--- The log says that an application faulted on a device, and nothing else is
--- wrong. Nobody may restart the job or take a healthy device away for it.
-- SPDX-License-Identifier: MIT

local jobs = require "lib.jobs"

local p = params { steps = { 36, "Training steps." } }

return scenario {
  name      = "an alarm without an effect",
  lab       = lab.netns { hosts = 4, spares = 1, devices = 1 },
  workloads = { job = jobs.watched { steps = p.steps, watchdog = "8s" } },
  faults    = { alarm = device.alarm { code = 31, rank = 1, at = at.step(12) } },
  trials    = { baseline = 1, null = 1, fault = 1 },
  deadline  = "1min",
  expect    = {
    { "alarm.detected_by", "==", "none" },
    { "job.attempts",      "==", 1 },
    { "job.final_state",   "==", "baseline" },
  },
}

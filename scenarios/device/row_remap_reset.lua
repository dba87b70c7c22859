--- A row of memory waits for a reset to be remapped. Nothing is wrong yet: the job
--- runs on, and when something else stops it, the device is reset on the way.
-- SPDX-License-Identifier: MIT

local jobs = require "lib.jobs"

local p = params { steps = { 36, "Training steps." } }

return scenario {
  name      = "a row remap is pending, then the device is reset",
  lab       = lab.netns { hosts = 4, spares = 1, devices = 1 },
  workloads = { job = jobs.watched { steps = p.steps } },
  faults    = {
    remap = device.xid { code = 63, form = "signal", rank = 1, at = at.step(12) },
    kill  = host.kill { rank = 3, at = at.step(18) },
  },
  trials    = { baseline = 1, null = 1, fault = 1 },
  deadline  = "1min",
  expect    = {
    { "remap.time_to_detect", "<",  "2s" },
    { "remap.blame",          "==", "target" },
    { "kill.time_to_resume",  "<",  "20s" },
    { "job.attempts",         "==", 2 },
    { "job.final_state",      "==", "baseline" },
  },
}

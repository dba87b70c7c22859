--- A kernel never ends and nobody says so: no Xid, no error, only a stream that
--- is never ready. Who notices, the health check or the watchdog?
-- SPDX-License-Identifier: MIT

local jobs = require "lib.jobs"

local p = params { steps = { 36, "Training steps." } }

return scenario {
  name      = "a kernel hangs without an Xid",
  lab       = lab.netns { hosts = 4, spares = 1, devices = 1 },
  workloads = { job = jobs.watched { steps = p.steps } },
  faults    = { hang = device.hang { rank = 1, at = at.step(18) } },
  trials    = { baseline = 1, null = 1, fault = 1 },
  deadline  = "1min",
  expect    = {
    { "hang.detected_by",    "==", "watchdog" },
    { "hang.time_to_detect", "<",  "watchdog + 20 steps" },
    { "hang.time_to_resume", "<",  "20s" },
    { "job.final_state",     "==", "baseline" },
  },
}

--- A device refuses an allocation, once, while the job starts. One that asks again
--- loses nothing; one that gives up pays for a restart.
-- SPDX-License-Identifier: MIT

local jobs = require "lib.jobs"

local p = params { steps = { 36, "Training steps." } }

return scenario {
  name      = "an allocation fails once",
  lab       = lab.netns { hosts = 4, spares = 1, devices = 1 },
  workloads = { job = jobs.watched { steps = p.steps, watchdog = "8s" } },
  faults    = {
    once = device.call {
      call = "cuMemAlloc", error = 2, count = 1, device = "h1/gpu0",
      at = at.call("cuMemAlloc", 1),
    },
  },
  trials    = { baseline = 1, null = 1, fault = 1 },
  deadline  = "1min",
  expect    = {
    { "once.stop",       "==", "none" },
    { "job.attempts",    "==", 1 },
    { "job.final_state", "==", "baseline" },
  },
}

--- A rank is killed, and when the job reads its checkpoint again one device has
--- no memory left: a second failure in the middle of the way back.
-- SPDX-License-Identifier: MIT

local jobs = require "lib.jobs"

local p = params { steps = { 36, "Training steps." } }

return scenario {
  name      = "out of memory at restore",
  lab       = lab.netns { hosts = 4, spares = 1, devices = 1 },
  workloads = { job = jobs.watched { steps = p.steps } },
  faults    = {
    kill = host.kill { rank = 3, at = at.step(18) },
    oom  = device.oom { rank = 0, at = at.event "restore.reading", duration = "2s" },
  },
  trials    = { baseline = 1, null = 1, fault = 1 },
  deadline  = "1min",
  expect    = {
    { "kill.time_to_resume", "<",  "25s" },
    { "job.attempts",        "<=", 3 },
    { "job.final_state",     "==", "baseline" },
  },
}

--- A rank dies, and before the job starts again its device is not there any more.
--- The job must come up on the spare, not fail for want of one device.
-- SPDX-License-Identifier: MIT

local jobs = require "lib.jobs"

local p = params { steps = { 36, "Training steps." } }

return scenario {
  name      = "a device is absent after the restart",
  lab       = lab.netns { hosts = 4, spares = 1, devices = 1 },
  workloads = { job = jobs.watched { steps = p.steps } },
  faults    = {
    kill = host.kill { rank = 2, at = at.step(18) },
    gone = device.absent { device = "h2/gpu0", at = at.after("kill.stopped", "0s") },
  },
  trials    = { baseline = 1, null = 1, fault = 1 },
  deadline  = "1min",
  expect    = {
    { "kill.time_to_resume", "<",  "25s" },
    { "job.finished",        "==", true },
    { "job.final_state",     "==", "baseline" },
  },
}

--- A GPU falls off the bus in the middle of an all-reduce and stays away. The
--- peers wait inside; the job must move off the device and go on.
-- SPDX-License-Identifier: MIT

local jobs = require "lib.jobs"

local p = params { steps = { 36, "Training steps." } }

return scenario {
  name      = "a device is lost inside an all-reduce",
  lab       = lab.netns { hosts = 4, spares = 1, devices = 1 },
  workloads = { job = jobs.watched { steps = p.steps } },
  faults    = {
    lost = device.xid {
      code = 79, rank = 1, follow = "device", at = at.step(18):inside "allreduce",
    },
  },
  trials    = { baseline = 1, null = 1, fault = 1 },
  deadline  = "1min",
  expect    = {
    { "lost.time_to_detect", "<",  "5s" },
    { "lost.blame",          "==", "target" },
    { "lost.time_to_resume", "<",  "20s" },
    { "job.final_state",     "==", "baseline" },
  },
}

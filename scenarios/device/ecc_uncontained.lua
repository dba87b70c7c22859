--- The same error, but it was not contained: every context of the device fails
--- and new ones are refused until a reset. Going on needs a reset or a spare.
-- SPDX-License-Identifier: MIT

local jobs = require "lib.jobs"

local p = params { steps = { 36, "Training steps." } }

return scenario {
  name      = "an ECC error, uncontained",
  lab       = lab.netns { hosts = 4, spares = 1, devices = 1 },
  workloads = { job = jobs.watched { steps = p.steps } },
  faults    = {
    ecc = device.xid {
      code = 48, contained = false, rank = 2, at = at.step(18),
    },
  },
  trials    = { baseline = 1, null = 1, fault = 1 },
  deadline  = "1min",
  expect    = {
    { "ecc.time_to_detect", "<",  "5s" },
    { "ecc.blame",          "==", "target" },
    { "ecc.time_to_resume", "<",  "20s" },
    { "job.final_state",    "==", "baseline" },
  },
}

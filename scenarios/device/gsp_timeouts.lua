--- The GPU's own processor does not answer, again and again, until the driver
--- asks for a reset. New contexts are refused till then.
-- SPDX-License-Identifier: MIT

local jobs = require "lib.jobs"

local p = params { steps = { 36, "Training steps." } }

return scenario {
  name      = "GSP timeouts, then a reset is required",
  lab       = lab.netns { hosts = 4, spares = 1, devices = 1 },
  workloads = { job = jobs.watched { steps = p.steps } },
  faults    = {
    gsp = device.xid {
      code = 119, chain = "119 -> 119 -> 119 -> 154", gap = "200ms", rank = 3,
      at = at.step(18),
    },
  },
  trials    = { baseline = 1, null = 1, fault = 1 },
  deadline  = "1min",
  expect    = {
    { "gsp.time_to_detect", "<",  "5s" },
    { "gsp.blame",          "==", "target" },
    { "gsp.time_to_resume", "<",  "20s" },
    { "job.final_state",    "==", "baseline" },
  },
}

--- The 40th launch of one named kernel reads where it must not: an illegal address
--- that surfaces at the next call which waits, and at every one after it.
-- SPDX-License-Identifier: MIT

local jobs = require "lib.jobs"

local p = params {
  steps  = { 36, "Training steps." },
  kernel = { "adamw", "The kernel that fails." },
  nth    = { 18, "Which of its launches." },
}

return scenario {
  name      = "the nth launch of a kernel fails",
  lab       = lab.netns { hosts = 4, spares = 1, devices = 1 },
  workloads = { job = jobs.watched { steps = p.steps } },
  faults    = {
    bad = device.xid { code = 31, rank = 2, at = at.launch(p.kernel, p.nth) },
  },
  trials    = { baseline = 1, null = 1, fault = 1 },
  deadline  = "1min",
  expect    = {
    { "bad.time_to_detect", "<",  "2s" },
    { "bad.detected_by",    "==", "framework" },
    { "bad.blame",          "==", "target" },
    { "bad.time_to_resume", "<",  "20s" },
    { "job.final_state",    "==", "baseline" },
  },
}

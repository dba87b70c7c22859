--- Bits flip in what one kernel wrote; every call succeeds. The replicas must
--- find it by comparing their hashes, before a checkpoint keeps it for good.
-- SPDX-License-Identifier: MIT

local jobs = require "lib.jobs"

local p = params { steps = { 36, "Training steps." } }

return scenario {
  name      = "silent corruption, found by replica hashes",
  lab       = lab.netns { hosts = 4, spares = 1, devices = 1 },
  workloads = { job = jobs.watched { steps = p.steps, hash_every = 5 } },
  faults    = {
    flip = device.corrupt {
      rank = 2, where = "output", kernel = "adamw", bits = 2, seed = 7,
      at = at.step(16),
    },
  },
  trials    = { baseline = 1, null = 1, fault = 1 },
  deadline  = "1min",
  expect    = {
    { "flip.detected_by",    "in", { "replica.hash", "launcher" } },
    { "flip.time_to_detect", "<",  "10 steps" },
    { "job.final_state",     "==", "baseline" },
  },
}

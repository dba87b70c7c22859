--- Watches an undisturbed training run.
-- SPDX-License-Identifier: MIT

return scenario {
  name      = "watch",
  lab       = lab.auto { hosts = 2 },
  workloads = { job = workload.train { ranks = 2, steps = 40 } },
  faults    = {},
  trials    = { baseline = 1 },
}

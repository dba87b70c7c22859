--- Stops one rank for two seconds, as a debugger or a bad driver would.
-- SPDX-License-Identifier: MIT

return scenario {
  name      = "a rank stands still",
  lab       = lab.auto { hosts = 2 },
  workloads = { job = workload.train { ranks = 2, steps = 60 } },
  faults    = { still = host.stop { rank = 1, at = at.step(30), duration = "2s" } },
  trials    = { baseline = 1, fault = 1 },
}

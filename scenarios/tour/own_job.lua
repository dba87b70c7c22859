--- Any program that mpirun can start. Without progress events only its exits are seen.
-- SPDX-License-Identifier: MIT

return scenario {
  name      = "my own job",
  lab       = lab.auto { hosts = 2 },
  workloads = { job = workload.command { command = { "sleep", "4" }, ranks = 2 } },
  faults    = { kill = host.kill { rank = 1, at = at.time "1s" } },
  trials    = { fault = 1 },
}

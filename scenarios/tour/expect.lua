--- Stops one rank for two seconds. The job must wait for it, not die, and lose no step.
-- SPDX-License-Identifier: MIT

return scenario {
  name      = "a rank stands still, and the job waits",
  lab       = lab.auto { hosts = 2 },
  workloads = { job = workload.train { ranks = 2, steps = 60, watchdog = "10s" } },
  faults    = { still = host.stop { rank = 1, at = at.step(30), duration = "2s" } },
  trials    = { baseline = 1, fault = 1 },
  expect    = {
    { "still.time_to_steady", "<", "4s" },
    { "still.lost_compute",   "<", "8 rank*s" },
    { "job.final_state",      "==", "baseline" },
  },
}

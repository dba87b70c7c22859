--- One rank of four is killed in the middle of training. Who notices, and what does it cost?
-- SPDX-License-Identifier: MIT

return scenario {
  name      = "one rank is killed",
  lab       = lab.auto { hosts = 4, spares = 1 },
  workloads = { job = workload.train { ranks = 4, steps = 60, checkpoint_every = 20 } },
  faults    = { kill = host.kill { rank = 2, at = at.step(30) } },
  trials    = { baseline = 1, fault = 1 },
  expect    = {
    { "kill.time_to_detect", "<", "2s" },
    { "kill.blame", "==", "target" },
    { "job.final_state", "==", "baseline" },
  },
}

--- Stops a rank twice; the second time only when the job runs steadily again.
-- SPDX-License-Identifier: MIT

return scenario {
  name      = "a rank stands still, twice",
  lab       = lab.auto { hosts = 2 },
  workloads = { job = workload.train { ranks = 2, steps = 80, watchdog = "10s" } },
  faults    = {
    first  = host.stop { rank = 1, at = at.manual() },
    second = host.stop { rank = 0, at = at.manual() },
  },
  trials    = { baseline = 1, fault = 1 },
  expect    = { { "job.final_state", "==", "baseline" } },

  run = function(t)
    t:wait "job.steady"
    t:during("first", function() t:wait "1s" end)
    t:wait "first.steady"
    t:during("second", function() t:wait "1s" end)
    t:log "both ranks went on"
  end,
}

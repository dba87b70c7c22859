--- A rank stops without dying, as a process under a debugger does. The
--- watchdog must see it: nothing else will.
-- SPDX-License-Identifier: MIT

local jobs = require "lib.jobs"

local p = params { steps = { 36, "Training steps." } }

return scenario {
  name      = "a rank is stopped",
  lab       = lab.netns { hosts = 4, spares = 1, devices = 1 },
  workloads = { job = jobs.small { steps = p.steps } },
  faults    = { stopped = host.stop { rank = 2, at = at.step(18) } },
  trials    = { baseline = 1, null = 1, fault = 1 },
  deadline  = "1min",
  expect    = {
    { "stopped.time_to_detect", "<",  "watchdog + 20 steps" },
    { "stopped.blame",          "==", "target" },
    { "stopped.time_to_resume", "<",  "20s" },
    { "job.final_state",        "==", "baseline" },
  },
}

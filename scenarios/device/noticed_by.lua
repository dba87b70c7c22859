--- The same hang twice: once nobody says a word, once the log names the device. How
--- much sooner does a health check notice than the watchdog does?
-- SPDX-License-Identifier: MIT

local jobs = require "lib.jobs"

local p = params { steps = { 36, "Training steps." } }

local function hangs(name, faults, expect)
  faults.hang = device.hang { rank = 1, at = at.step(18) }
  expect[#expect + 1] = { "job.final_state", "==", "baseline" }
  return scenario {
    name      = name,
    lab       = lab.netns { hosts = 4, spares = 1, devices = 1 },
    workloads = { job = jobs.watched { steps = p.steps, watchdog = "5s" } },
    faults    = faults,
    trials    = { baseline = 1, null = 0, fault = 1 },
    deadline  = "1min",
    expect    = expect,
  }
end

return {
  hangs("a hang that only the watchdog sees", {}, {
    { "hang.detected_by",    "==", "watchdog" },
    { "hang.time_to_detect", "<",  "watchdog + 20 steps" },
  }),
  hangs("a hang that the log tells of", {
    told = device.alarm { code = 8, rank = 1, at = at.same "hang" },
  }, {
    { "told.detected_by",    "in", { "health.nvml", "health.xid" } },
    { "told.time_to_detect", "<",  "2s" },
    { "hang.time_to_resume", "<",  "15s" },
  }),
}

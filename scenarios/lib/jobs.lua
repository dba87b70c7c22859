--- Jobs that several scenarios share.
-- SPDX-License-Identifier: MIT

local jobs = {}

--- Four ranks of the reference job, small enough for two cores.
function jobs.small(more)
  local job = {
    ranks = 4, steps = 36, step_time = "100ms", checkpoint_every = 10,
    watchdog = "3s",
  }
  for name, value in pairs(more or {}) do
    job[name] = value
  end
  return workload.train(job)
end

--- The same, with a health check that looks at every device and at the log.
function jobs.watched(more)
  local job = { health = "both", health_interval = "250ms" }
  for name, value in pairs(more or {}) do
    job[name] = value
  end
  return jobs.small(job)
end

return jobs

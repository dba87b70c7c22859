/* host_process.c - what the injectors that act on one rank's process share
 * SPDX-License-Identifier: MIT
 */
#include "host_process.h"

#include "harness/agent/process.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

int drill_host_probe(const struct drill_act *act, const char *who,
		     struct drill_err *err)
{
	struct drill_process p = act->target->process;
	int rc;

	if (p.pid <= 0)
		return drill_err_set(err, -ESRCH, who,
				     "'%s' has no process here yet",
				     act->target->name);
	p.pidfd = -1;
	rc = drill_process_find(&p, err);
	if (rc < 0)
		return rc;
	rc = drill_process_signal(&p, 0, err);
	drill_process_close(&p);
	return rc;
}

int drill_host_target(const struct drill_record *r, struct drill_process *ret,
		      struct drill_err *err)
{
	struct drill_record_info info;
	int held = drill_record_fd(r, "process");

	drill_record_info(r, &info);
	*ret = info.process;
	ret->pidfd = held >= 0 ? fcntl(held, F_DUPFD_CLOEXEC, 3) : -1;
	return drill_process_find(ret, err);
}

int64_t drill_host_cpu_ns(pid_t pid)
{
	struct timespec t;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &t) < 0)
		return -1;
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

bool drill_host_still(pid_t pid, int64_t sample_ns)
{
	struct timespec t = { .tv_nsec = sample_ns };
	int64_t before = drill_host_cpu_ns(pid);

	nanosleep(&t, NULL);
	return before >= 0 && drill_host_cpu_ns(pid) == before;
}

/* launch.c - the reference supervisor: starts ranks, watches, blames, restarts
 * SPDX-License-Identifier: MIT
 *
 *   launch --ranks N --hosts h0,h1,.. [--spares h4,..] --ppn K --dir TRIALDIR
 *          [options] -- CMD ARGS...          (launch --help lists the options)
 *
 * Rank i runs on host number i / K, as the child of a rank starter
 * (launch-rank), all under one mpirun an attempt. With --enter "CMD" mpirun
 * reaches a host by `CMD HOST COMMAND...`; without, all ranks run here, and
 * the hosts are names only. CMD is restarted with the same command line: it
 * restores from its newest valid checkpoint by itself. A rank that maintains a
 * ring (faultdrill/progress.h) is watched by step, collective and watchdog;
 * any other by its exit alone.
 *
 * What a rank finds in its environment: FAULTDRILL_RING (TRIALDIR/HOST/
 * rank<r>.a<attempt>.ring), FAULTDRILL_HOOKS (TRIALDIR/HOST/hooks.page),
 * FAULTDRILL_WAKE (TRIALDIR/HOST/wake), FAULTDRILL_HOST, FAULTDRILL_SLOT,
 * FAULTDRILL_ATTEMPT, FAULTDRILL_JOB, FAULTDRILL_STORE,
 * FAULTDRILL_DEVICE_COUNT, CUDA_VISIBLE_DEVICES, LD_PRELOAD and LD_LIBRARY_PATH
 * with what the options put first; besides all of the launcher's own
 * environment.
 *
 * Events, one JSON object a line on descriptor FAULTDRILL_EVENTS_FD (default 3;
 * none when that is closed); each has attempt, source, h_ns (our
 * CLOCK_MONOTONIC_RAW):
 *
 *   attempt.begin  reason: start | restart
 *   placed         ranks: [{rank, host}, ...]
 *   detected       by: launcher (exit) | watchdog | heartbeat | mpi | health.nvml |
 *                  health.xid, what, blame, detail
 *   symptom        the same of what a health check does not act on
 *   blamed         by, blame: "rank 3" | "host h1" | "device h1/gpu0", level: exact |
 *                  host | device, what
 *   device.state   host, device, state: reset, reason
 *   stopped        no rank of the attempt runs on, as far as it can be heard
 *   fenced         excluded: hosts where that could not be proven
 *   host.down      host, reason: not fenced, or a bad device; host.up when a later
 *                  fence proved it clean
 *   allocated      host, replaces; or what: "same hosts"
 *   attempt.end    reason: done | failed | timeout | gave_up | stopped, what
 *   error          reason: a failure of our own
 *
 * Exit status: 0 done, 1 gave up, 2 usage, 3 error of ours, 128 + signal.
 */
#include "health.h"

#include "harness/core/unit.h"
#include "recover.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int usage(void)
{
	const struct drill_param *p;

	puts("usage: launch --ranks N --hosts h0,h1,.. --dir DIR [options] "
	     "-- CMD ARGS...\n");
	for (p = launch_options_table(); p->name; p++) {
		printf("  --%-16s %s", p->name, p->doc);
		if (p->def && *p->def)
			printf(" [%s]", p->def);
		puts(p->def ? "" : " Required.");
	}
	puts("\nEvents go to descriptor FAULTDRILL_EVENTS_FD (3) as JSON "
	     "lines.");
	return 0;
}

/* Must come before anything opens a descriptor. */
static int events_fd(void)
{
	const char *env = getenv("FAULTDRILL_EVENTS_FD");
	int fd = env ? atoi(env) : 3;

	if (fd < 0 || fcntl(fd, F_GETFD) < 0)
		return -1;
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	return fd;
}

static int count(const char *list)
{
	int n = *list != '\0';

	while ((list = strchr(list, ',')) && *++list)
		n++;
	return n;
}

static int name_hosts(struct launch_job *j, int at, const char *list,
		      struct drill_err *err)
{
	for (; *list; list += *list == ',') {
		size_t len = strcspn(list, ",");
		struct launch_host *h = &j->hosts[at++];

		if (len == 0 || len >= sizeof(h->name) ||
		    strcspn(list, "/ \t") < len)
			return drill_err_set(err, -EINVAL, "launch",
					     "'%.60s' is no host name", list);
		memcpy(h->name, list, len);
		h->job = j;
		list += len;
	}
	return 0;
}

static int lay_out(struct launch_job *j, struct drill_err *err)
{
	const struct launch_options *o = j->o;
	int i, rc, hosts = count(o->hosts), spares = count(o->spares);

	j->n_hosts = hosts + spares;
	j->n_ranks = (int)o->ranks;
	j->n_places = (int)((o->ranks + o->ppn - 1) / o->ppn);
	j->hosts = calloc((size_t)j->n_hosts, sizeof(*j->hosts));
	j->place = calloc((size_t)j->n_places, sizeof(*j->place));
	j->ranks = calloc((size_t)j->n_ranks, sizeof(*j->ranks));
	j->table = calloc((size_t)j->n_ranks, sizeof(*j->table));
	if (!j->hosts || !j->place || !j->ranks || !j->table)
		return drill_err_set(err, -ENOMEM, "launch", "no memory");
	for (i = 0; i < j->n_places; i++)
		j->place[i] = i;
	rc = name_hosts(j, 0, o->hosts, err);
	return rc < 0 ? rc : name_hosts(j, hosts, o->spares, err);
}

static int find_starter(struct launch_job *j, struct drill_err *err)
{
	char self[2048];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n < 0)
		return drill_err_errno(err, errno, "launch",
				       "cannot find ourselves");
	self[n] = '\0';
	snprintf(j->starter, sizeof(j->starter), "%s/launch-rank",
		 dirname(self));
	if (access(j->starter, X_OK) < 0)
		return drill_err_errno(err, errno, "launch",
				       "cannot run '%s'", j->starter);
	return 0;
}

static void on_signal(uv_signal_t *s, int signum)
{
	launch_job_stop(s->data, signum);
}

static void watch_signals(struct launch_job *j)
{
	signal(SIGPIPE, SIG_IGN);
	uv_signal_init(&j->loop, &j->term);
	uv_signal_init(&j->loop, &j->intr);
	j->term.data = j->intr.data = j;
	uv_signal_start(&j->term, on_signal, SIGTERM);
	uv_signal_start(&j->intr, on_signal, SIGINT);
}

static int make_dir(const char *path, struct drill_err *err)
{
	if (!*path || mkdir(path, 0755) == 0 || errno == EEXIST)
		return 0;
	return drill_err_errno(err, errno, "launch", "cannot make '%s'", path);
}

static int supervise(struct launch_job *j, struct drill_err *err)
{
	int rc;

	j->reason = "";
	j->recovery = launch_recovery_find(j->o->recovery, err);
	if (!j->recovery)
		return err->code;
	rc = lay_out(j, err);
	if (rc == 0)
		rc = find_starter(j, err);
	if (rc == 0)
		rc = make_dir(j->o->dir, err);
	if (rc == 0)
		rc = make_dir(j->o->log, err);
	if (rc < 0)
		return rc;
	uv_loop_init(&j->loop);
	watch_signals(j);
	rc = launch_job_run(j, err);
	launch_health_close(j);
	launch_crew_end(j);
	return rc;
}

static void done(struct launch_job *j)
{
	int i;

	for (i = 0; j->hosts && i < j->n_hosts; i++)
		free(j->hosts[i].health);
	free(j->hosts);
	free(j->place);
	free(j->ranks);
	free(j->table);
}

int main(int argc, char **argv)
{
	struct launch_job j = {.events_fd = events_fd()};
	struct launch_options o;
	struct drill_err err = {0};
	int rc;

	rc = launch_options_parse(&o, argc, argv, &err);
	if (rc == 1)
		return usage();
	j.o = &o;
	if (rc == 0)
		rc = supervise(&j, &err);
	if (rc < 0)
		launch_error(&j, &err);
	done(&j);
	launch_options_done(&o);
	if (rc == -EINVAL || rc == -ERANGE || rc == -ENOSYS)
		return 2;
	return rc < 0 ? 3 : j.status;
}

/* marked.c - processes that carry a lab's mark in their environment
 * SPDX-License-Identifier: MIT
 */
#include "marked.h"

#include "harness/agent/process.h"
#include "harness/core/spawn.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char who[] = "lab";

#define ROUNDS 1000
#define ROUND_MS 2

void drill_marked_init(struct drill_marked *m, const char *mark,
		       const char *job)
{
	m->whole_lab = !job;
	m->found = 0;
	snprintf(m->want, sizeof(m->want), DRILL_MARK_ENV "=%s/%s", mark,
		 job ? job : "");
}

/* The mark is read while the pidfd is held: the pid is the same process. */
void drill_marked_kill(pid_t pid, void *arg)
{
	struct drill_marked *m = arg;
	int fd = drill_pidfd_open(pid);
	char state;

	if (fd < 0)
		return;
	if (drill_process_has_env(pid, m->want, !m->whole_lab)) {
		state = drill_process_state(pid);
		m->found += state && state != 'Z' && state != 'X';
		drill_pidfd_kill(fd, SIGKILL);
	}
	close(fd);
}

void drill_marked_each_process(struct drill_lab *lab, void (*fn)(pid_t, void *),
			       void *arg)
{
	DIR *d = opendir("/proc");
	struct dirent *e;

	(void)lab;
	while (d && (e = readdir(d)))
		if (isdigit((unsigned char)e->d_name[0]))
			fn((pid_t)atoi(e->d_name), arg);
	if (d)
		closedir(d);
}

/* In rounds: what forks while we look is found in the next one, and a killed one
 * may take a moment to be gone. */
int drill_marked_end(struct drill_marked *m, drill_marked_each *each,
		     struct drill_lab *lab)
{
	int round;

	for (round = 0; round < ROUNDS; round++) {
		m->found = 0;
		each(lab, drill_marked_kill, m);
		if (!m->found)
			return 0;
		poll(NULL, 0, ROUND_MS);
	}
	return -EBUSY;
}

int drill_marked_kill_all(const char *mark, struct drill_err *err)
{
	struct drill_marked m;

	drill_marked_init(&m, mark, NULL);
	if (drill_marked_end(&m, drill_marked_each_process, NULL) == 0)
		return 0;
	return drill_err_set(err, -EBUSY, who,
			     "%d processes of the lab do not die", m.found);
}

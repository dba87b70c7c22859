/* recover.c - where the next attempt runs
 * SPDX-License-Identifier: MIT
 */
#include "recover.h"

#include "harness/core/unit.h"

#include <errno.h>
#include <string.h>

static bool in_use(const struct launch_job *j, int host)
{
	int i;

	for (i = 0; i < j->n_places; i++)
		if (j->place[i] == host)
			return true;
	return false;
}

static bool usable(const struct launch_host *h)
{
	return !h->lost && !h->bad;
}

static int free_host(const struct launch_job *j)
{
	int i;

	for (i = 0; i < j->n_hosts; i++)
		if (usable(&j->hosts[i]) && !in_use(j, i))
			return i;
	return -1;
}

/* A lost host may come back; one with a bad device does not. */
static int no_spare(const struct launch_job *j, const struct launch_host *old,
		    struct drill_err *err)
{
	int i;

	for (i = 0; i < j->n_hosts; i++)
		if (j->hosts[i].lost && !j->hosts[i].bad)
			return drill_err_set(err, -EAGAIN, "launch",
					     "no spare for host '%s'",
					     old->name);
	return drill_err_set(err, -ENODEV, "launch",
			     "no spare for host '%s' (%s)", old->name,
			     old->bad_why);
}

/* The same command line again; the job itself restores from the newest valid
 * checkpoint. Only hosts that are lost or have a bad device are replaced. */
static int restart(struct launch_job *j, struct drill_err *err)
{
	bool replaced = false;
	int i, other;

	for (i = 0; i < j->n_places; i++) {
		const struct launch_host *h = &j->hosts[j->place[i]];

		if (usable(h))
			continue;
		other = free_host(j);
		if (other < 0)
			return no_spare(j, h, err);
		j->place[i] = other;
		replaced = true;
		launch_say(j, "host %s takes the place of %s",
			   j->hosts[other].name, h->name);
		launch_tell(j, "allocated",
			    json_pack("{ss ss ss}", "by", "launcher", "host",
				      j->hosts[other].name, "replaces",
				      h->name));
	}
	if (!replaced)
		launch_tell(j, "allocated",
			    json_pack("{ss ss}", "by", "launcher", "what",
				      "same hosts"));
	return 0;
}

static const struct launch_recovery table[] = {
	{"restart", "All ranks start again from the newest checkpoint.",
	 restart},
	{"shrink", "The survivors go on without the lost rank.", NULL},
	{"spare", "A waiting process joins the survivors.", NULL},
};

const struct launch_recovery *launch_recovery_find(const char *name,
						   struct drill_err *err)
{
	const char *names[sizeof(table) / sizeof(*table) + 1] = {NULL}, *near;
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(*table); i++) {
		names[i] = table[i].name;
		if (strcmp(table[i].name, name) != 0)
			continue;
		if (table[i].next)
			return &table[i];
		drill_err_set(err, -ENOSYS, "launch",
			      "recovery '%s' is not there yet; use 'restart'",
			      name);
		return NULL;
	}
	near = drill_nearest(name, names);
	drill_err_set(err, -EINVAL, "launch", "no recovery '%.40s'%s%s%s", name,
		      near ? ", did you mean '" : "", near ? near : "",
		      near ? "'?" : "");
	return NULL;
}

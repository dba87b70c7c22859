/* mpirun.c - how the ranks are started
 * SPDX-License-Identifier: MIT
 *
 * One mpirun an attempt. Over hosts it goes through the lab's `enter` as its
 * remote shell, its own traffic on the management network and the ranks' on
 * the other; without `enter` all ranks run on this machine. Every rank is the
 * child of a rank starter (launch-rank).
 */
#include "job.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <ifaddrs.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

struct words {
	char **v;
	size_t n, size;
	bool failed;
};

static void add(struct words *w, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void add(struct words *w, const char *fmt, ...)
{
	char **v = w->v, *word = NULL;
	va_list ap;

	if (w->n + 1 >= w->size) {
		w->size = w->size ? 2 * w->size : 64;
		v = realloc(w->v, w->size * sizeof(*v));
	}
	va_start(ap, fmt);
	if (!v || vasprintf(&word, fmt, ap) < 0)
		w->failed = true;
	va_end(ap);
	if (w->failed)
		return;
	w->v = v;
	v[w->n++] = word;
	v[w->n] = NULL;
}

static void done(struct words *w)
{
	size_t i;

	for (i = 0; i < w->n; i++)
		free(w->v[i]);
	free(w->v);
}

static void mca(struct words *w, const char *name, const char *value)
{
	add(w, "--mca");
	add(w, "%s", name);
	add(w, "%s", value);
}

/* The network of our own address, "10.1.0.0/24"; "" when no interface has it. */
static void network_of(const char *address, char *buf, size_t size)
{
	struct ifaddrs *all, *i;
	struct in_addr want, net;

	buf[0] = '\0';
	if (inet_pton(AF_INET, address, &want) != 1 || getifaddrs(&all) < 0)
		return;
	for (i = all; i; i = i->ifa_next) {
		const struct sockaddr_in *a = (void *)i->ifa_addr;
		const struct sockaddr_in *m = (void *)i->ifa_netmask;
		char text[INET_ADDRSTRLEN];

		if (!a || a->sin_family != AF_INET || !m ||
		    a->sin_addr.s_addr != want.s_addr)
			continue;
		net.s_addr = want.s_addr & m->sin_addr.s_addr;
		inet_ntop(AF_INET, &net, text, sizeof(text));
		snprintf(buf, size, "%s/%d", text,
			 __builtin_popcount(m->sin_addr.s_addr));
		break;
	}
	freeifaddrs(all);
}

static void add_networks(struct words *w, const struct launch_job *j)
{
	char own[64], others[96];
	const char *control = j->o->control_if;

	network_of(j->o->head, own, sizeof(own));
	if (!*control)
		control = own;
	if (*control)
		mca(w, "oob_tcp_if_include", control);
	if (*j->o->data_if) {
		mca(w, "btl_tcp_if_include", j->o->data_if);
		return;
	}
	snprintf(others, sizeof(others), "127.0.0.0/8%s%s", *control ? "," : "",
		 control);
	mca(w, "btl_tcp_if_exclude", others);
}

static int write_hostfile(const struct launch_job *j, char *path, size_t size,
			  struct drill_err *err)
{
	FILE *f;
	int i;

	snprintf(path, size, "%s/hosts.a%d", j->o->dir, j->attempt);
	f = fopen(path, "we");
	if (!f)
		return drill_err_errno(err, errno, "launch",
				       "cannot write '%s'", path);
	for (i = 0; i < j->n_places; i++)
		fprintf(f, "%s slots=%" PRId64 "\n",
			j->hosts[j->place[i]].name, j->o->ppn);
	if (fclose(f) != 0)
		return drill_err_errno(err, errno, "launch",
				       "cannot write '%s'", path);
	return 0;
}

static int add_hosts(struct words *w, const struct launch_job *j,
		     struct drill_err *err)
{
	char path[4096];
	int rc;

	rc = write_hostfile(j, path, sizeof(path), err);
	if (rc < 0)
		return rc;
	add(w, "--hostfile");
	add(w, "%s", path);
	mca(w, "plm", "rsh");
	mca(w, "plm_rsh_agent", j->o->enter);
	mca(w, "plm_rsh_no_tree_spawn", "1");
	mca(w, "btl", "tcp,self");
	add_networks(w, j);
	return 0;
}

/* Shared memory and sockets of the ranks go where the trial is cleaned up. */
static void add_local(struct words *w, const struct launch_job *j)
{
	char tmp[4096];

	snprintf(tmp, sizeof(tmp), "%s/tmp", j->o->dir);
	add(w, "--host");
	add(w, "localhost:%d", j->n_ranks);
	mca(w, "plm", "isolated");
	mca(w, "btl", "vader,self");
	mca(w, "btl_vader_single_copy_mechanism", "none");
	mca(w, "btl_vader_backing_directory", tmp);
	mca(w, "oob_tcp_if_include", "lo");
}

/* What mpirun must not carry to other hosts: each has its own. */
static bool stays_here(const char *var, size_t len)
{
	static const char *const own[] = {"PATH", "HOME", "PWD", "OLDPWD",
					  "SHLVL", "_", "HOSTNAME", "TMPDIR",
					  "LD_PRELOAD", NULL};
	size_t i;

	for (i = 0; own[i]; i++)
		if (strlen(own[i]) == len && strncmp(var, own[i], len) == 0)
			return true;
	for (i = 0; i < len; i++)
		if (!isalnum((unsigned char)var[i]) && var[i] != '_')
			return true;
	return strncmp(var, "OMPI_", 5) == 0 || strncmp(var, "PMIX_", 5) == 0;
}

static void add_environment(struct words *w, char *const *env)
{
	for (; env && *env; env++) {
		size_t len = strcspn(*env, "=");

		if (stays_here(*env, len))
			continue;
		add(w, "-x");
		add(w, "%.*s", (int)len, *env);
	}
}

static void add_starter(struct words *w, const struct launch_job *j)
{
	const struct launch_options *o = j->o;
	char hosts[8192] = "";
	size_t len = 0;
	char **c;
	int i;

	for (i = 0; i < j->n_places && len < sizeof(hosts); i++)
		len += (size_t)snprintf(hosts + len, sizeof(hosts) - len,
					"%s%s", i ? "," : "",
					j->hosts[j->place[i]].name);
	add(w, "%s", j->starter);
	add(w, "--hosts=%s", hosts);
	add(w, "--ppn=%" PRId64, o->ppn);
	add(w, "--dir=%s", o->dir);
	add(w, "--heartbeat=%" PRId64, o->heartbeat_ns / LAUNCH_MS);
	if (o->devices)
		add(w, "--devices=%" PRId64, o->devices);
	if (*o->log)
		add(w, "--log=%s", o->log);
	if (*o->preload)
		add(w, "--preload=%s", o->preload);
	if (*o->library_path)
		add(w, "--library-path=%s", o->library_path);
	if (*o->enter)
		add(w, "--remote");
	add(w, "--");
	for (c = o->command; *c; c++)
		add(w, "%s", *c);
}

static void job_environment(struct words *env, const struct launch_job *j)
{
	add(env, LAUNCH_ENV "=%s %d %s", j->o->head, j->port, j->token);
	add(env, LAUNCH_ENV_JOB "=%s", j->id);
	add(env, LAUNCH_ENV_ATTEMPT "=%d", j->attempt);
	if (*j->o->store)
		add(env, "FAULTDRILL_STORE=%s", j->o->store);
}

static int command_line(struct words *w, const struct words *env,
			const struct launch_job *j, struct drill_err *err)
{
	char tmp[4096];
	int rc = 0;

	snprintf(tmp, sizeof(tmp), "%s/tmp", j->o->dir);
	if (mkdir(tmp, 0700) < 0 && errno != EEXIST)
		return drill_err_errno(err, errno, "launch",
				       "cannot make '%s'", tmp);
	add(w, "mpirun");
	if (getuid() == 0)
		add(w, "--allow-run-as-root");
	add(w, "--oversubscribe");
	add(w, "--bind-to");
	add(w, "none");
	add(w, "-np");
	add(w, "%d", j->n_ranks);
	mca(w, "orte_tmpdir_base", tmp);
	mca(w, "mpi_yield_when_idle", "1");
	if (*j->o->enter)
		rc = add_hosts(w, j, err);
	else
		add_local(w, j);
	add_environment(w, environ);
	add_environment(w, env->v);
	add_starter(w, j);
	return rc;
}

static void on_end(struct launch_child *c)
{
	struct launch_job *j = c->ctx;

	j->mpirun_status = c->status;
	j->mpirun_end_ns = launch_now();
	launch_job_ended(j);
}

int launch_mpirun(struct launch_job *j, struct drill_err *err)
{
	struct words w = {0}, env = {0};
	int rc;

	job_environment(&env, j);
	rc = command_line(&w, &env, j, err);
	if (rc == 0 && (w.failed || env.failed))
		rc = drill_err_set(err, -ENOMEM, "launch", "no memory");
	j->mpirun.on_end = on_end;
	j->mpirun.ctx = j;
	if (rc == 0)
		rc = launch_child_start(&j->mpirun, &j->loop, w.v, env.v, err);
	done(&w);
	done(&env);
	return rc;
}

/* lab_admin.c - labs looked after by hand: lab up, down, status, shell
 * SPDX-License-Identifier: MIT
 *
 * All they know they have from the lab's own directory.
 */
#include "lab_admin.h"

#include "lab_dir.h"
#include "lab_mark.h"
#include "provider.h"
#include "spec.h"

#include "harness/agent/process.h"
#include "harness/core/jsonx.h"
#include "harness/core/unit.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char who[] = "lab";

/* The same process still, by its start time; not a zombie. */
static bool lives(const json_t *obj, const char *pid_key, const char *start_key)
{
	pid_t pid = (pid_t)json_integer_value(json_object_get(obj, pid_key));
	json_int_t start = json_integer_value(json_object_get(obj, start_key));
	char state;

	if (pid <= 0 || (json_int_t)drill_process_start(pid) != start)
		return false;
	state = drill_process_state(pid);
	return state && state != 'Z' && state != 'X';
}

static const char *state_of(const json_t *lab)
{
	if (json_is_true(json_object_get(lab, "keep")))
		return "kept";
	return lives(lab, "controller", "controller_start") ? "running"
							    : "left over";
}

static void dir_of(const char *name, char *buf, size_t size)
{
	char root[128];

	drill_lab_root(root, sizeof(root));
	snprintf(buf, size, "%s/%s", root, name);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Names of all labs, sorted; yours with each name. -1: none. */
static int list_names(char ***ret)
{
	char root[128], path[PATH_MAX];
	struct dirent *e;
	size_t n = 0;
	DIR *d;

	*ret = calloc(1024, sizeof(**ret));
	d = opendir(drill_lab_root(root, sizeof(root)));
	while (d && *ret && n < 1023 && (e = readdir(d))) {
		snprintf(path, sizeof(path), "%s/%s/mark", root, e->d_name);
		if (e->d_name[0] != '.' && access(path, F_OK) == 0)
			(*ret)[n++] = strdup(e->d_name);
	}
	if (d)
		closedir(d);
	if (*ret)
		qsort(*ret, n, sizeof(**ret), by_name);
	return (int)n;
}

static void free_names(char **names)
{
	char **n;

	for (n = names; n && *n; n++)
		free(*n);
	free(names);
}

static int no_such(const char *name, struct drill_err *err)
{
	char **names, all[256] = "";
	size_t len = 0;
	int i, n = list_names(&names);

	for (i = 0; i < n && len < sizeof(all); i++)
		len += (size_t)snprintf(all + len, sizeof(all) - len, "%s%s",
					i ? ", " : "", names[i]);
	free_names(names);
	return drill_err_set(err, -ENOENT, who, "no lab '%.40s' (%s%s)", name,
			     n ? "there are: " : "none is up", all);
}

/* Half a lab (its maker was killed) has a mark and no file. */
static int read_lab(const char *name, json_t **ret, char *dir, size_t size,
		    struct drill_err *err)
{
	char mark[PATH_MAX];

	dir_of(name, dir, size);
	snprintf(mark, sizeof(mark), "%s/mark", dir);
	if (strchr(name, '/') || access(mark, F_OK) < 0)
		return no_such(name, err);
	return drill_lab_file_read(dir, ret, err);
}

static void add_states(json_t *lab, const char *dir)
{
	json_t *host;
	size_t i;

	json_object_set_new(lab, "dir", json_string(dir));
	json_object_set_new(lab, "state", json_string(state_of(lab)));
	json_array_foreach (json_object_get(lab, "hosts"), i, host)
		json_object_set_new(
			host, "state",
			json_string(!json_object_get(host, "pid") ? "shared"
				    : lives(host, "pid", "start") ? "up"
								  : "down"));
}

int drill_lab_admin_up(const struct drill_lab_spec *spec, const char *state,
		       json_t **ret, struct drill_err *err)
{
	struct drill_lab lab = {.spec = *spec, .keep = true};
	char why[400], dir[256];
	int rc;

	lab.ops = drill_lab_find(spec, why, sizeof(why), err);
	if (!lab.ops)
		return -EINVAL;
	rc = lab.ops->probe(&lab.spec, err);
	if (rc < 0)
		return rc;
	if (!lab.spec.name[0])
		snprintf(lab.spec.name, sizeof(lab.spec.name), "lab");
	snprintf(lab.state, sizeof(lab.state), "%s", state ? state : "");
	rc = lab.ops->up(&lab, err);
	if (rc < 0)
		return rc;
	snprintf(dir, sizeof(dir), "%s", lab.dir);
	rc = lab.ops->down(&lab, err); /* lets go of it, no more */
	if (rc == 0 && ret)
		rc = drill_lab_file_read(dir, ret, err);
	if (rc == 0 && ret)
		add_states(*ret, dir);
	return rc;
}

/* Half a lab whose maker is gone is known by its mark alone. */
static int remove_half(const char *dir, int rc, struct drill_err *err)
{
	struct drill_lab_mark m;

	if (!drill_lab_mark_read(dir, &m) || drill_lab_mark_owned(&m))
		return rc;
	if (err)
		memset(err, 0, sizeof(*err));
	return drill_lab_remove(dir, m.mark, m.cgroup, err);
}

int drill_lab_admin_down(const char *name, struct drill_err *err)
{
	json_t *lab = NULL;
	char dir[256];
	int rc;

	rc = read_lab(name, &lab, dir, sizeof(dir), err);
	if (rc < 0)
		return strchr(name, '/') ? rc : remove_half(dir, rc, err);
	if (strcmp(state_of(lab), "running") == 0)
		rc = drill_err_set(err, -EBUSY, who,
				   "lab '%s' is in use by process %d", name,
				   (int)json_integer_value(json_object_get(
					   lab, "controller")));
	else
		rc = drill_lab_remove(dir, drill_json_text(lab, "mark"),
				      drill_json_text(lab, "cgroup"), err);
	json_decref(lab);
	return rc;
}

/* One that is being made, or was left half made, is told as such. */
static int add_lab(const char *name, json_t *list, struct drill_err *err)
{
	struct drill_err inner = {0};
	struct drill_lab_mark m;
	json_t *lab = NULL;
	char dir[256];

	if (read_lab(name, &lab, dir, sizeof(dir), &inner) == 0)
		add_states(lab, dir);
	else
		lab = json_pack("{s:s, s:s, s:s, s:[]}", "name", name, "dir",
				dir, "state",
				drill_lab_mark_read(dir, &m) &&
						drill_lab_mark_owned(&m)
					? "coming up or going down"
					: "left over",
				"hosts");
	if (json_array_append_new(list, lab) < 0)
		return drill_err_set(err, -ENOMEM, who, "no memory");
	return 0;
}

static int add_all(json_t *list, struct drill_err *err)
{
	char **names;
	int i, n = list_names(&names), rc = 0;

	for (i = 0; i < n && rc == 0; i++)
		rc = add_lab(names[i], list, err);
	free_names(names);
	return rc;
}

int drill_lab_admin_status(const char *name, json_t **ret,
			   struct drill_err *err)
{
	char dir[256];
	json_t *lab = NULL;
	int rc;

	*ret = json_array();
	if (!name) {
		rc = add_all(*ret, err);
	} else {
		rc = read_lab(name, &lab, dir, sizeof(dir), err);
		json_decref(lab);
		if (rc == 0)
			rc = add_lab(name, *ret, err);
	}
	if (rc < 0) {
		json_decref(*ret);
		*ret = NULL;
	}
	return rc;
}

static int only_name(char *buf, size_t size, struct drill_err *err)
{
	char **names;
	int n = list_names(&names);

	if (n == 1)
		snprintf(buf, size, "%s", names[0]);
	free_names(names);
	if (n == 1)
		return 0;
	return n ? drill_err_set(err, -EINVAL, who,
				 "which lab? %d are up; name it", n)
		 : drill_err_set(err, -ENOENT, who, "no lab is up");
}

static int become(const char *dir, const char *host, char *const *argv,
		  struct drill_err *err)
{
	char agent[PATH_MAX], enter[] = "enter", *full[64] = {agent, enter};
	int n = 2;

	drill_agent_path(agent, sizeof(agent));
	full[n++] = (char *)(uintptr_t)dir;
	full[n++] = (char *)(uintptr_t)host;
	for (; argv && *argv && n < 63; argv++)
		full[n++] = *argv;
	if (argv && *argv)
		return drill_err_set(err, -E2BIG, who, "too many words");
	execv(agent, full);
	return drill_err_errno(err, errno, who, "cannot run '%s'", agent);
}

/* The names of its hosts, for one that is none of them. */
static int check_host(const json_t *lab, const char *host, struct drill_err *err)
{
	const char *names[DRILL_LAB_HOSTS + 1] = { NULL }, *near;
	json_t *h, *hosts = json_object_get(lab, "hosts");
	size_t i;

	json_array_foreach (hosts, i, h) {
		if (i < DRILL_LAB_HOSTS)
			names[i] = drill_json_text(h, "name");
		if (strcmp(drill_json_text(h, "name"), host) == 0)
			return 0;
	}
	near = drill_nearest(host, names);
	return drill_err_set(err, -EINVAL, who,
			     "lab '%s' has no host '%.40s'%s%s%s (%s to %s)",
			     drill_json_text(lab, "name"), host,
			     near ? ", did you mean '" : "", near ? near : "",
			     near ? "'?" : "", names[0] ? names[0] : "none",
			     i ? names[i < DRILL_LAB_HOSTS ? i - 1
							   : DRILL_LAB_HOSTS - 1]
			       : "none");
}

int drill_lab_admin_shell(const char *name, const char *host, char *const *argv,
			  struct drill_err *err)
{
	char only[64], dir[256];
	json_t *lab = NULL;
	int rc = 0;

	if (!name) {
		rc = only_name(only, sizeof(only), err);
		name = only;
	}
	if (rc == 0)
		rc = read_lab(name, &lab, dir, sizeof(dir), err);
	if (rc == 0 && strcmp(drill_json_text(lab, "provider"), "netns") != 0)
		rc = drill_err_set(err, -ENOTSUP, who,
				   "hosts of a %s lab are names only: there is "
				   "nothing to enter",
				   drill_json_text(lab, "provider"));
	if (rc == 0)
		rc = check_host(lab, host, err);
	json_decref(lab);
	return rc < 0 ? rc : become(dir, host, argv, err);
}

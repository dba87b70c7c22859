/* snapshot.c - what a host looks like, so that before and after can be compared
 * SPDX-License-Identifier: MIT
 *
 * Nothing in here may differ when nothing was changed: no counters, no device
 * numbers, no pids of running processes, nothing of the agent's own.
 */
#include "snapshot.h"

#include "netdump.h"
#include "process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char who[] = "snapshot";

static void add(json_t *lines, const char *line)
{
	json_t *s = json_string(line);

	json_array_append_new(lines, s ? s : json_string("(not UTF-8)"));
}

/* The first @size - 1 bytes of a file, its last newline cut off. */
static int read_text(const char *path, char *buf, int size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, buf, size - 1);
	if (n < 0)
		n = -errno;
	close(fd);
	buf[n > 0 ? n : 0] = 0;
	buf[strcspn(buf, "\n")] = 0;
	return n < 0 ? n : 0;
}

/* Calls @fn for each name in @dir, hidden ones left out. */
static void each_name(const char *dir, json_t *lines,
		      void (*fn)(const char *dir, const char *name,
				 unsigned char type, json_t *lines))
{
	DIR *d = opendir(dir);
	struct dirent *e;

	if (!d)
		return;
	while ((e = readdir(d)))
		if (e->d_name[0] != '.')
			fn(dir, e->d_name, e->d_type, lines);
	closedir(d);
}

/* ---- mounts ---- */

/* "ID PARENT MAJOR:MINOR ROOT POINT OPTIONS ... - TYPE SOURCE SUPER": the
 * numbers are the kernel's and change by themselves. */
static void mounts(json_t *lines)
{
	char line[1024], root[256], point[256], opts[128], type[32], out[800];
	const char *sep;
	FILE *f = fopen("/proc/self/mountinfo", "re");

	if (!f)
		return;
	while (fgets(line, sizeof(line), f)) {
		sep = strstr(line, " - ");
		if (!sep || sscanf(line, "%*d %*d %*s %255s %255s %127s", root,
				   point, opts) != 3 ||
		    sscanf(sep + 3, "%31s", type) != 1)
			continue;
		snprintf(out, sizeof(out), "%s %s %s %s", point, type, root,
			 opts);
		add(lines, out);
	}
	fclose(f);
}

/* ---- cgroups and processes ---- */

static void cgroup(const char *dir, const char *name, unsigned char type,
		   json_t *lines)
{
	char path[512], file[560], state[64] = "";

	if (type != DT_DIR)
		return;
	snprintf(path, sizeof(path), "%.300s/%.200s", dir, name);
	snprintf(file, sizeof(file), "%s/cgroup.freeze", path);
	if (read_text(file, state, sizeof(state)) < 0) {
		snprintf(file, sizeof(file), "%s/freezer.self_freezing", path);
		read_text(file, state, sizeof(state));
	}
	snprintf(file, sizeof(file), "%s%s", path,
		 state[0] == '1' ? " frozen" : "");
	add(lines, file);
	each_name(path, lines, cgroup);
}

static void cgroups(const char *root, const char *mark, json_t *lines)
{
	char self[400];
	const char *name = strrchr(root, '/');

	(void)mark;
	if (!root[0] || !name)
		return; /* other people's come and go */
	snprintf(self, sizeof(self), "%.*s", (int)(name - root), root);
	cgroup(self, name + 1, DT_DIR, lines);
}

static void stopped(pid_t pid, json_t *lines)
{
	char path[64], comm[64], line[128];

	if (drill_process_state(pid) != 'T')
		return;
	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	read_text(path, comm, sizeof(comm));
	snprintf(line, sizeof(line), "%d %s stopped", (int)pid, comm);
	add(lines, line);
}

/* Whoever else stops a process of this machine has not done it to the lab. */
static void marked(const char *mark, json_t *lines)
{
	DIR *d = opendir("/proc");
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (atoi(e->d_name) > 0 &&
		    drill_process_state(atoi(e->d_name)) == 'T' &&
		    drill_process_has_env(atoi(e->d_name), mark, false))
			stopped(atoi(e->d_name), lines);
	if (d)
		closedir(d);
}

static void members(const char *dir, const char *name, unsigned char type,
		    json_t *lines)
{
	char path[512], line[32];
	FILE *f;

	if (type != DT_DIR)
		return;
	snprintf(path, sizeof(path), "%.300s/%.180s/cgroup.procs", dir, name);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		stopped(atoi(line), lines);
	if (f)
		fclose(f);
	*strrchr(path, '/') = 0;
	each_name(path, lines, members);
}

static void processes(const char *root, const char *mark, json_t *lines)
{
	char self[400];
	const char *name = strrchr(root, '/');

	if (!root[0] || !name) {
		marked(mark, lines);
		return;
	}
	snprintf(self, sizeof(self), "%.*s", (int)(name - root), root);
	members(self, name + 1, DT_DIR, lines);
}

/* ---- sysctls ---- */

static void sysctl(const char *dir, const char *name, unsigned char type,
		   json_t *lines)
{
	/* Counters, clocks, triggers and random numbers. */
	static const char *const restless[] = {
		"nf_conntrack_count", "stat_refresh", "compact_memory",
		"drop_caches", "tcp_fastopen_key", "flush", "stable_secret",
		"netdev_rss_key", "tcp_available_congestion_control",
		"lowmem_reserve_ratio", NULL };
	char path[400], value[160], line[640];
	int i;

	if (type == DT_DIR)
		return;
	for (i = 0; restless[i]; i++)
		if (!strcmp(restless[i], name))
			return;
	snprintf(path, sizeof(path), "%.250s/%.120s", dir, name);
	if (read_text(path, value, sizeof(value)) < 0)
		return; /* write-only, or not ours to read */
	snprintf(line, sizeof(line), "%s = %s", path + strlen("/proc/sys/"),
		 value);
	add(lines, line);
}

static void sysctl_dir(const char *dir, const char *name, unsigned char type,
		       json_t *lines)
{
	char path[400];

	if (type != DT_DIR)
		return;
	snprintf(path, sizeof(path), "%.250s/%.120s", dir, name);
	each_name(path, lines, sysctl);
}

static void sysctls(json_t *lines)
{
	each_name("/proc/sys/net/ipv4", lines, sysctl);
	each_name("/proc/sys/net/ipv4/conf", lines, sysctl_dir);
	each_name("/proc/sys/net/ipv6/conf", lines, sysctl_dir);
	each_name("/proc/sys/net/core", lines, sysctl);
	each_name("/proc/sys/vm", lines, sysctl);
}

/* ---- devices ---- */

static void loop(const char *dir, const char *name, unsigned char type,
		 json_t *lines)
{
	char path[400], file[256], line[400];

	(void)type;
	if (strncmp(name, "loop", 4))
		return;
	snprintf(path, sizeof(path), "%.100s/%.100s/loop/backing_file", dir,
		 name);
	if (read_text(path, file, sizeof(file)) < 0)
		return; /* no file behind it */
	snprintf(line, sizeof(line), "%.100s %s", name, file);
	add(lines, line);
}

static void dm(const char *dir, const char *name, unsigned char type,
	       json_t *lines)
{
	char path[400], dm_name[160], suspended[16], line[300];

	(void)type;
	if (strncmp(name, "dm-", 3))
		return;
	snprintf(path, sizeof(path), "%.100s/%.100s/dm/name", dir, name);
	read_text(path, dm_name, sizeof(dm_name));
	snprintf(path, sizeof(path), "%.100s/%.100s/dm/suspended", dir, name);
	read_text(path, suspended, sizeof(suspended));
	snprintf(line, sizeof(line), "%s suspended %s", dm_name, suspended);
	add(lines, line);
}

static void block(const char *dir, const char *name, unsigned char type,
		  json_t *lines)
{
	char path[400], ro[16], state[32] = "-", line[300];

	(void)type;
	if (!strncmp(name, "loop", 4) || !strncmp(name, "ram", 3))
		return;
	snprintf(path, sizeof(path), "%.100s/%.100s/ro", dir, name);
	read_text(path, ro, sizeof(ro));
	snprintf(path, sizeof(path), "%.100s/%.100s/device/state", dir, name);
	read_text(path, state, sizeof(state));
	snprintf(line, sizeof(line), "block %.100s read-only %s state %s", name,
		 ro, state);
	add(lines, line);
}

static void gpu(const char *dir, const char *name, unsigned char type,
		json_t *lines)
{
	char line[300];

	(void)dir;
	(void)type;
	snprintf(line, sizeof(line), "gpu %.200s", name);
	add(lines, line);
}

static void devices(json_t *lines)
{
	char cpus[128], line[160];

	if (read_text("/sys/devices/system/cpu/online", cpus, sizeof(cpus)) ==
	    0) {
		snprintf(line, sizeof(line), "cpu online %s", cpus);
		add(lines, line);
	}
	each_name("/sys/block", lines, block);
	each_name("/proc/driver/nvidia/gpus", lines, gpu);
}

/* ---- together ---- */

static int by_text(const void *a, const void *b)
{
	return strcmp(json_string_value(*(json_t *const *)a),
		      json_string_value(*(json_t *const *)b));
}

/* Sorted, so that the order of a directory or a dump makes no difference. */
static json_t *sorted(json_t *lines)
{
	size_t n = json_array_size(lines), i;
	json_t **v = malloc((n + 1) * sizeof(*v)), *out = json_array();

	if (!v || !out)
		abort();
	for (i = 0; i < n; i++)
		v[i] = json_array_get(lines, i);
	qsort(v, n, sizeof(*v), by_text);
	for (i = 0; i < n; i++)
		json_array_append(out, v[i]);
	free(v);
	json_decref(lines);
	return out;
}

int drill_snapshot(const char *cgroup_dir, const char *mark, json_t **ret,
		   struct drill_err *err)
{
	static const struct {
		const char *name;
		void (*read)(json_t *lines);
		void (*below)(const char *cgroup, const char *mark,
			      json_t *lines);
	} classes[] = {
		{ "addresses", drill_net_addresses, NULL },
		{ "cgroups", NULL, cgroups },
		{ "devices", devices, NULL },
		{ "dm", NULL, NULL },
		{ "filters", drill_net_filters, NULL },
		{ "links", drill_net_links, NULL },
		{ "loops", NULL, NULL },
		{ "mounts", mounts, NULL },
		{ "nft", drill_net_nft, NULL },
		{ "processes", NULL, processes },
		{ "qdiscs", drill_net_qdiscs, NULL },
		{ "routes", drill_net_routes, NULL },
		{ "sysctls", sysctls, NULL },
	};
	json_t *all = json_object(), *lines;
	unsigned int i;

	if (!all)
		return drill_err_set(err, -ENOMEM, who, "out of memory");
	for (i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		lines = json_array();
		if (classes[i].read)
			classes[i].read(lines);
		else if (classes[i].below)
			classes[i].below(cgroup_dir, mark, lines);
		else
			each_name("/sys/block", lines,
				  classes[i].name[0] == 'l' ? loop : dm);
		json_object_set_new(all, classes[i].name, sorted(lines));
	}
	*ret = all;
	return 0;
}

static void difference(json_t *out, const char *class, char sign,
		       const char *line)
{
	char text[1024];

	snprintf(text, sizeof(text), "%s: %c %s", class, sign, line);
	json_array_append_new(out, json_string(text));
}

/* Two sorted lists, walked side by side. */
static void compare_class(json_t *out, const char *class, json_t *a, json_t *b)
{
	size_t i = 0, k = 0, n = json_array_size(a), m = json_array_size(b);
	const char *x, *y;
	int c;

	while (i < n || k < m) {
		x = i < n ? json_string_value(json_array_get(a, i)) : NULL;
		y = k < m ? json_string_value(json_array_get(b, k)) : NULL;
		c = !x ? 1 : !y ? -1 : strcmp(x, y);
		if (c < 0)
			difference(out, class, '-', x);
		if (c > 0)
			difference(out, class, '+', y);
		i += c <= 0;
		k += c >= 0;
	}
}

json_t *drill_snapshot_compare(json_t *before, json_t *after)
{
	json_t *out = json_array(), *v;
	const char *class;

	json_object_foreach(before, class, v)
		compare_class(out, class, v, json_object_get(after, class));
	json_object_foreach(after, class, v)
		if (!json_object_get(before, class))
			compare_class(out, class, NULL, v);
	return out;
}

/* lab_dir.c - the directory of a lab, its mark, its file and its undo record
 * SPDX-License-Identifier: MIT
 */
#include "lab_dir.h"

#include "lab_mark.h"
#include "spec.h"

#include "harness/agent/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

static const char who[] = "lab";

const char *drill_lab_root(char *buf, size_t size)
{
	const char *run = getenv("XDG_RUNTIME_DIR");

	if (geteuid() == 0)
		snprintf(buf, size, "/run/faultdrill");
	else if (run && *run)
		snprintf(buf, size, "%s/faultdrill", run);
	else
		snprintf(buf, size, "/tmp/faultdrill-%u", geteuid());
	return buf;
}

static int draw_mark(char *buf, struct drill_err *err)
{
	unsigned char raw[12];
	size_t i;

	if (getrandom(raw, sizeof(raw), 0) != (ssize_t)sizeof(raw))
		return drill_err_errno(err, errno, who, "no random numbers");
	for (i = 0; i < sizeof(raw); i++)
		sprintf(buf + 2 * i, "%02x", raw[i]);
	return 0;
}

int drill_lab_dir_name(struct drill_lab *lab, struct drill_err *err)
{
	char root[128];
	int rc;

	rc = drill_lab_name_check(lab->spec.name, err);
	if (rc == 0)
		rc = draw_mark(lab->mark, err);
	if (rc < 0)
		return rc;
	if (!lab->spec.name[0])
		snprintf(lab->spec.name, sizeof(lab->spec.name), "run-%.6s",
			 lab->mark);
	drill_lab_root(root, sizeof(root));
	if (snprintf(lab->dir, sizeof(lab->dir), "%s/%s", root,
		     lab->spec.name) > 160)
		return drill_err_set(err, -ENAMETOOLONG, who,
				     "'%s' is too long a path", lab->dir);
	snprintf(lab->store, sizeof(lab->store), "%.200s/store", lab->dir);
	return 0;
}

static int make_root(struct drill_err *err)
{
	char root[128];
	struct stat st;

	drill_lab_root(root, sizeof(root));
	if (mkdir(root, 0755) < 0 && errno != EEXIST)
		return drill_err_errno(err, errno, who, "cannot make '%s'",
				       root);
	if (lstat(root, &st) < 0 || !S_ISDIR(st.st_mode) ||
	    st.st_uid != geteuid())
		return drill_err_set(err, -EPERM, who,
				     "'%s' is not a directory of ours", root);
	return 0;
}

static int make_in(const char *dir, const char *sub, struct drill_err *err)
{
	char path[320];

	snprintf(path, sizeof(path), "%s/%s", dir, sub);
	if (mkdir(path, 0755) < 0)
		return drill_err_errno(err, errno, who, "cannot make '%s'",
				       path);
	return 0;
}

static int busy(const struct drill_lab *lab, struct drill_err *err)
{
	json_t *file = NULL;
	int pid = 0;
	bool kept = false;

	if (drill_lab_file_read(lab->dir, &file, NULL) == 0) {
		json_unpack(file, "{s?i, s?b}", "controller", &pid, "keep",
			    &kept);
		json_decref(file);
	}
	if (kept)
		return drill_err_set(err, -EBUSY, who,
				     "lab '%s' is up already: `faultdrill lab "
				     "down %s` ends it",
				     lab->spec.name, lab->spec.name);
	return drill_err_set(err, -EBUSY, who,
			     "lab '%s' is in use (process %d); if that is gone, "
			     "`faultdrill heal` removes the lab",
			     lab->spec.name, pid);
}

static int make_marked(const struct drill_lab *lab, const char *cgroup,
		       struct drill_err *err)
{
	int rc = 0, lock = drill_lab_root_lock(err);

	if (lock < 0)
		return lock;
	if (mkdir(lab->dir, 0755) < 0)
		rc = errno == EEXIST ? busy(lab, err)
				     : drill_err_errno(err, errno, who,
						       "cannot make '%s'",
						       lab->dir);
	if (rc == 0)
		rc = drill_lab_mark_write(lab->dir, lab->mark, cgroup, err);
	close(lock);
	return rc;
}

int drill_lab_dir_make(struct drill_lab *lab, const char *cgroup,
		       struct drill_err *err)
{
	static const char *const subs[] = {"store", "tmp", "inside"};
	char name[64];
	size_t i;
	int rc, h;

	rc = make_root(err);
	if (rc == 0)
		rc = make_marked(lab, cgroup, err);
	for (i = 0; i < 3 && rc == 0; i++)
		rc = make_in(lab->dir, subs[i], err);
	for (h = 0; h < lab->n_hosts && rc == 0; h++) {
		rc = make_in(lab->dir, lab->hosts[h].name, err);
		snprintf(name, sizeof(name), "%s/tmp", lab->hosts[h].name);
		if (rc == 0)
			rc = make_in(lab->dir, name, err);
	}
	return rc;
}

/* --- removing ------------------------------------------------------------ */

bool drill_lab_dir_has(const char *dir, const char *mark)
{
	struct drill_lab_mark found;

	return drill_lab_mark_read(dir, &found) &&
	       strcmp(found.mark, mark) == 0;
}

/* A mark of no bytes: its maker was killed between open and write. */
static void drop_empty_mark(const char *dir)
{
	struct stat st;
	char path[320];

	snprintf(path, sizeof(path), "%s/mark", dir);
	if (lstat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0)
		unlink(path);
}

bool drill_lab_dir_bare(const char *dir)
{
	struct dirent *e;
	DIR *d = opendir(dir);
	int n = 0;

	while (d && (e = readdir(d)))
		n += strcmp(e->d_name, ".") && strcmp(e->d_name, "..") &&
		     strcmp(e->d_name, "mark");
	if (d)
		closedir(d);
	return d && n == 0;
}

static int remove_one(const char *path, const struct stat *st, int type,
		      struct FTW *ftw)
{
	(void)st;
	(void)ftw;
	return (type == FTW_DP ? rmdir(path) : unlink(path)) < 0 &&
	       errno != ENOENT;
}

/* The mark goes last, so that an interrupted removal can be taken up again. */
static int remove_content(const char *path, const struct stat *st, int type,
			  struct FTW *ftw)
{
	if (ftw->level == 0 || (ftw->level == 1 && !strcmp(path + ftw->base,
							   "mark")))
		return 0;
	return remove_one(path, st, type, ftw);
}

int drill_lab_tree_remove(const char *path, struct drill_err *err)
{
	if (nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT))
		return drill_err_errno(err, errno, who, "cannot remove '%s'",
				       path);
	return 0;
}

static int remove_marked(const char *dir, const char *mark,
			 struct drill_err *err)
{
	struct drill_lab_mark found;

	if (!drill_lab_mark_read(dir, &found)) {
		drop_empty_mark(dir);
		if (rmdir(dir) == 0 || errno == ENOENT)
			return 0;
	}
	if (!*mark || strcmp(found.mark, mark) != 0)
		return drill_err_set(err, -EUCLEAN, who,
				     "'%s' does not carry our mark: left alone",
				     dir);
	if (nftw(dir, remove_content, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT))
		return drill_err_errno(err, errno, who, "cannot remove '%s'",
				       dir);
	return drill_lab_tree_remove(dir, err);
}

int drill_lab_dir_remove(const char *dir, const char *mark,
			 struct drill_err *err)
{
	int rc, lock = drill_lab_root_lock(NULL);

	rc = remove_marked(dir, mark, err);
	if (lock >= 0)
		close(lock);
	return rc;
}

/* --- lab.json ------------------------------------------------------------ */

static json_t *hosts_json(const struct drill_lab *lab)
{
	json_t *list = json_array();
	int i;

	for (i = 0; i < lab->n_hosts; i++)
		json_array_append_new(
			list, json_pack("{s:s, s:b, s:s}", "name",
					lab->hosts[i].name, "spare",
					(int)lab->hosts[i].spare, "cgroup",
					lab->hosts[i].cgroup));
	return list;
}

json_t *drill_lab_file_new(const struct drill_lab *lab, const char *cgroup)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:i, s:I, s:b, s:s, s:i, s:i,"
			 " s:i, s:o}",
			 "schema", "faultdrill.lab/1", "provider",
			 lab->ops->name, "name", lab->spec.name, "mark",
			 lab->mark, "controller", (int)getpid(),
			 "controller_start",
			 (json_int_t)drill_process_start(getpid()), "keep",
			 (int)lab->keep, "cgroup", cgroup, "n_hosts",
			 lab->spec.hosts, "spares", lab->spec.spares, "devices",
			 lab->spec.devices, "hosts", hosts_json(lab));
}

int drill_lab_file_write(const char *dir, json_t *json, struct drill_err *err)
{
	char path[320], temp[320];

	snprintf(path, sizeof(path), "%s/lab.json", dir);
	snprintf(temp, sizeof(temp), "%s/lab.json.new", dir);
	if (json_dump_file(json, temp, JSON_INDENT(2)) < 0 ||
	    rename(temp, path) < 0)
		return drill_err_errno(err, errno, who, "cannot write '%s'",
				       path);
	return 0;
}

int drill_lab_file_read(const char *dir, json_t **ret, struct drill_err *err)
{
	json_error_t why;
	char path[320];

	snprintf(path, sizeof(path), "%s/lab.json", dir);
	*ret = json_load_file(path, JSON_REJECT_DUPLICATES, &why);
	if (!*ret)
		return drill_err_set(err, -ENOENT, who, "no lab in '%s' (%s)",
				     dir, why.text);
	return 0;
}

/* --- the undo record ----------------------------------------------------- */

int drill_lab_record_open(struct drill_lab *lab, const char *kind,
			  const char *cgroup, struct drill_lab_record *ret,
			  struct drill_err *err)
{
	const char *run = lab->run[0] ? lab->run : lab->spec.name;
	struct drill_record_info info = {
		.kind = kind,
		.fault = "",
		.target = lab->spec.name,
		.process = {.pidfd = -1},
		.survives = DRILL_SURVIVES_PROCESS,
	};
	char state[256];
	int rc;

	drill_state_dir(lab->state[0] ? lab->state : NULL, state,
			sizeof(state));
	rc = drill_journal_open(state, run, "lab", &ret->journal, err);
	if (rc < 0)
		return rc;
	rc = drill_record_new(ret->journal, &info, &ret->record, err);
	if (rc == 0)
		rc = drill_record_put(ret->record, "dir", lab->dir, err);
	if (rc == 0)
		rc = drill_record_put(ret->record, "lab_mark", lab->mark, err);
	if (rc == 0)
		rc = drill_record_put(ret->record, "cgroup", cgroup, err);
	if (rc == 0)
		rc = drill_record_commit(ret->record, err);
	if (rc < 0) {
		drill_journal_close(ret->journal);
		*ret = (struct drill_lab_record){0};
	}
	return rc;
}

int drill_lab_record_end(struct drill_lab_record *r, int rc,
			 struct drill_err *err)
{
	int end = 0;

	if (!r->journal)
		return 0;
	end = drill_record_end(r->record,
			       rc < 0 ? DRILL_RECORD_DIRTY
				      : DRILL_RECORD_CLOSED,
			       rc < 0 && err ? err->msg : "", err);
	drill_journal_close(r->journal);
	*r = (struct drill_lab_record){0};
	return end;
}

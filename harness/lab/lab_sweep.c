/* lab_sweep.c - labs whose makers are gone, removed by what lies in them
 * SPDX-License-Identifier: MIT
 */
#include "lab_sweep.h"

#include "lab_dir.h"
#include "lab_mark.h"
#include "lab_record.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char who[] = "heal";

static bool is_kept(const char *dir)
{
	json_t *file = NULL;
	bool kept;

	if (drill_lab_file_read(dir, &file, NULL) < 0)
		return false;
	kept = json_is_true(json_object_get(file, "keep"));
	json_decref(file);
	return kept;
}

/* Under the lock, so that none is seen while it is made or taken away. */
static bool is_left(const char *dir, struct drill_lab_mark *m)
{
	int lock = drill_lab_root_lock(NULL);
	bool left;

	if (lock < 0)
		return false;
	left = drill_lab_mark_read(dir, m) ? !drill_lab_mark_owned(m) &&
						     !is_kept(dir)
					   : drill_lab_dir_bare(dir);
	close(lock);
	return left;
}

static bool told(json_t *found, const char *name)
{
	json_t *r;
	size_t i;

	json_array_foreach(found, i, r)
	{
		const char *kind =
			json_string_value(json_object_get(r, "kind"));
		const char *target =
			json_string_value(json_object_get(r, "target"));

		if (kind && strncmp(kind, "lab.", 4) == 0 && target &&
		    strcmp(target, name) == 0)
			return true;
	}
	return false;
}

static void tell(json_t *found, const char *dir, const char *name,
		 const char *state, const char *reason)
{
	json_array_append_new(
		found, json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s}", "id",
				 dir, "kind", "lab", "fault", "", "target", name,
				 "run", "", "host", "lab", "state", state,
				 "reason", reason, "holder", ""));
}

static int sweep_one(const char *dir, const char *name, bool list_only,
		     json_t *found, struct drill_err *err)
{
	struct drill_lab_mark m;
	struct drill_err why = {0};
	int rc;

	if (!is_left(dir, &m) || (list_only && told(found, name)))
		return 0;
	if (list_only) {
		tell(found, dir, name, "open", "its maker is gone");
		return 0;
	}
	rc = m.mark[0] ? drill_lab_remove(dir, m.mark, m.cgroup, &why)
		       : drill_lab_dir_remove(dir, "", &why);
	if (rc == 0) {
		tell(found, dir, name, "reverted", "its maker is gone");
		return 0;
	}
	tell(found, dir, name, "dirty", why.msg);
	return drill_err_set(err, -EUCLEAN, who, "lab '%s': %s", name, why.msg);
}

static int is_lab(const struct dirent *e)
{
	return e->d_name[0] != '.' && strcmp(e->d_name, "lock") != 0;
}

int drill_lab_sweep(bool list_only, json_t *found, struct drill_err *err)
{
	char root[128], dir[400];
	struct dirent **list;
	int i, n, one, rc = 0;

	n = scandir(drill_lab_root(root, sizeof(root)), &list, is_lab,
		    alphasort);
	if (n < 0)
		return errno == ENOENT ? 0
				       : drill_err_errno(err, errno, who,
							 "cannot read '%s'",
							 root);
	for (i = 0; i < n; i++) {
		snprintf(dir, sizeof(dir), "%s/%.255s", root, list[i]->d_name);
		one = sweep_one(dir, list[i]->d_name, list_only, found, err);
		rc = rc ? rc : one;
		free(list[i]);
	}
	free(list);
	return rc;
}

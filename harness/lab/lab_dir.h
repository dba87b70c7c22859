/* lab_dir.h - the directory of a lab, its mark, its file and its undo record
 * SPDX-License-Identifier: MIT
 *
 *   ROOT/NAME/mark      our mark (lab_mark.h): without it nothing is removed
 *            /lab.json  what is up: read by enter, status, down
 *            /hosts     names and addresses, /etc/hosts inside
 *            /store     the shared store
 *            /tmp, /HOST/tmp   TMPDIR of launcher and hosts
 *            /inside    where each host mounts its own mark
 *            /trial-N   of the engine
 *
 * ROOT is /run/faultdrill as root, else $XDG_RUNTIME_DIR/faultdrill or
 * /tmp/faultdrill-UID.
 */
#ifndef DRILL_LAB_DIR_H
#define DRILL_LAB_DIR_H

#include "lab.h"

#include "harness/agent/journal.h"

/* ROOT; returns @buf. */
const char *drill_lab_root(char *buf, size_t size);

/* Checks the name, draws a mark, chooses a name where there is none, and fills
 * @lab->dir, ->store and ->mark. Makes nothing. */
int drill_lab_dir_name(struct drill_lab *lab, struct drill_err *err);

/* Makes the directory with its mark, which also holds @cgroup ("": none), and
 * sub-directories. -EBUSY: such a lab is there already; the text says whose. */
int drill_lab_dir_make(struct drill_lab *lab, const char *cgroup,
		       struct drill_err *err);

/* Removes @dir when @mark lies in it (or it is empty). Absent: 0. Another mark
 * or none: -EUCLEAN. Follows no link, crosses no mount. */
int drill_lab_dir_remove(const char *dir, const char *mark,
			 struct drill_err *err);

/* Removes a tree of ours inside a lab, with the same care. */
int drill_lab_tree_remove(const char *path, struct drill_err *err);

/* Is a directory with this mark there? */
bool drill_lab_dir_has(const char *dir, const char *mark);
/* Is it a directory in which nothing is, or at most a mark? */
bool drill_lab_dir_bare(const char *dir);

/* What lab.json says of any lab: schema, provider, name, mark, controller (and
 * its start time), keep, cgroup, n_hosts, spares, devices, hosts [{name, spare,
 * cgroup}]. Yours; NULL: no memory. */
json_t *drill_lab_file_new(const struct drill_lab *lab, const char *cgroup);

/* Writes lab.json whole or not at all. @json borrowed. */
int drill_lab_file_write(const char *dir, json_t *json, struct drill_err *err);
/* Yours: json_decref. */
int drill_lab_file_read(const char *dir, json_t **ret, struct drill_err *err);

/* The undo record of a lab that comes up, durable before anything is made:
 * where it lies, its mark, its cgroup ("": none). */
struct drill_lab_record {
	struct drill_journal *journal;
	struct drill_record *record;
};
int drill_lab_record_open(struct drill_lab *lab, const char *kind,
			  const char *cgroup, struct drill_lab_record *ret,
			  struct drill_err *err);
/* Ends it: @rc of what went before; 0 closes, else it stays dirty. */
int drill_lab_record_end(struct drill_lab_record *r, int rc,
			 struct drill_err *err);

#endif

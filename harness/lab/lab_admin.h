/* lab_admin.h - labs looked after by hand: lab up, down, status, shell
 * SPDX-License-Identifier: MIT
 */
#ifndef DRILL_LAB_ADMIN_H
#define DRILL_LAB_ADMIN_H

#include "lab.h"
#include "lab_record.h" /* drill_lab_revertibles, for heal */

/* Brings a lab up that stays when we are gone. @spec->name "" : "lab". @state
 * "" : the default. *ret (may be NULL) is its lab.json; yours: json_decref. */
int drill_lab_admin_up(const struct drill_lab_spec *spec, const char *state,
		       json_t **ret, struct drill_err *err);

/* Ends a lab, proves it gone. -EBUSY: a run that lives has it. -ENOENT: no such
 * lab; the text names those there are. */
int drill_lab_admin_down(const char *name, struct drill_err *err);

/* *ret: an array with one object a lab (only @name unless NULL): what lab.json
 * says and "dir", "state" ("kept", "running", "left over"), and each host's
 * "state" ("up", "down", or "shared" where hosts are names only). Yours. */
int drill_lab_admin_status(const char *name, json_t **ret,
			   struct drill_err *err);

/* Becomes a shell (or @argv, ends with NULL; may be NULL) in @host of @name.
 * @name NULL: the only lab there is. Returns only when that fails. */
int drill_lab_admin_shell(const char *name, const char *host,
			  char *const *argv, struct drill_err *err);

#endif

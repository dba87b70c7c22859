/* heal.c - goes through all journals and reverts what dead runs left
 * SPDX-License-Identifier: MIT
 */
#include "heal.h"

#include "journal_file.h"
#include "lock.h"
#include "process.h"
#include "revert.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char who[] = "heal";

#define WAIT_KEEPER_MS 5000

struct healing {
	bool list_only;
	json_t *out;
	int bad; /* torn or dirty records */
	char first[768];
};

static void tell(struct healing *h, const struct drill_journal *j,
		 const char *id, const struct drill_record_info *info,
		 const char *state, const char *reason, const char *holder)
{
	json_array_append_new(
		h->out,
		json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s}", "id", id,
			  "kind", info ? info->kind : "", "fault",
			  info ? info->fault : "", "target",
			  info ? info->target : "", "run", j->lease->run,
			  "host", j->lease->host, "state", state, "reason",
			  reason ? reason : "", "holder",
			  holder ? holder : ""));
}

static void tell_bad(struct healing *h, const struct drill_record *r,
		     const struct drill_record_info *info, const char *state,
		     const char *reason)
{
	if (!h->bad++)
		snprintf(h->first, sizeof(h->first), "'%s': %s", r->id, reason);
	tell(h, r->journal, r->id, info, state, reason, "");
}

static void tell_held(struct healing *h, struct drill_journal *j)
{
	const struct drill_lease *l = j->lease;
	char holder[96];

	snprintf(holder, sizeof(holder), "pid %d%s", (int)l->holder_pid,
		 l->keeper_pid ? " and its keeper" : "");
	tell(h, j, j->stem, NULL, "held", "a live holder has it", holder);
}

static void heal_record(struct healing *h, struct drill_record *r)
{
	struct drill_record_info info;
	struct drill_err err = { 0 };
	struct drill_journal *j = r->journal;
	json_t *doc = json_incref(r->doc); /* info must outlive the record */
	char id[sizeof(r->id)];
	int rc;

	memcpy(id, r->id, sizeof(id));
	drill_record_info(r, &info);
	if (r->state == DRILL_RECORD_TORN)
		tell_bad(h, r, &info, "torn", drill_record_reason(r));
	else if (r->state == DRILL_RECORD_CLOSED)
		tell(h, j, id, &info, "reverted", drill_record_reason(r), "");
	else if (info.keep)
		tell(h, j, id, &info, "kept", "of `faultdrill lab up`", "");
	else if (h->list_only)
		tell(h, j, id, &info,
		     r->state == DRILL_RECORD_DIRTY ? "dirty" : "open",
		     drill_record_reason(r), "");
	else if (!drill_injector_find(info.kind, NULL) &&
		 !drill_revertible_find(info.kind))
		tell(h, j, id, &info, "foreign", "`faultdrill heal` can", "");
	else if ((rc = drill_revert_record(r, &err)) == 0)
		tell(h, j, id, &info, "reverted", "", "");
	else
		tell_bad(h, r, &info, "dirty", err.msg);
	json_decref(doc);
}

static void heal_records(struct healing *h, struct drill_journal *j)
{
	int i;

	for (i = 1; i < DRILL_SLOTS; i++)
		if (j->slot[i] && (!h->list_only ||
				   j->slot[i]->state != DRILL_RECORD_CLOSED))
			heal_record(h, j->slot[i]);
}

static bool kill_once_out(struct drill_journal *j, pid_t pid, uint64_t start)
{
	struct drill_process p = { .pid = pid, .start = start, .pidfd = -1 };
	struct drill_lease *l = j->lease;
	bool dead;

	if (!drill_lease_valid(l) || !l->keeper_pid || drill_lease_left(l) > 0)
		return false;
	snprintf(p.boot_id, sizeof(p.boot_id), "%.36s", l->boot_id);
	if (drill_process_find(&p, NULL) < 0)
		return false;
	dead = drill_process_kill(&p, INT64_C(2000000000), NULL) == 0;
	drill_process_close(&p);
	return dead;
}

/* A holder that has a keeper renews its lease. Without the keeper, and run out,
 * it is stopped or stuck: it is killed first, as the keeper would have done. */
static bool kill_stale(struct drill_journal *j)
{
	return kill_once_out(j, j->lease->holder_pid, j->lease->holder_start);
}

/* Nor does a keeper that is stopped itself revert anything, ever. */
static bool kill_stopped_keeper(struct drill_journal *j)
{
	return drill_process_state(j->lease->keeper_pid) == 'T' &&
	       kill_once_out(j, j->lease->keeper_pid, j->lease->keeper_start);
}

static bool holder_lives(const struct drill_journal *j)
{
	struct drill_lease *l = j->lease;

	return l->holder_start &&
	       drill_process_start(l->holder_pid) == l->holder_start;
}

/* Both locks, or -EBUSY. A keeper whose agent is dead is reverting this very
 * moment: it gets the time to finish. */
static int seize(struct drill_journal *j, struct drill_err *err)
{
	struct timespec pause = { .tv_nsec = 5000000 };
	int rc, ms = 0;

	while ((rc = drill_journal_lock_keeper(j, NULL)) == -EBUSY &&
	       (kill_stopped_keeper(j) || !holder_lives(j)) &&
	       ms < WAIT_KEEPER_MS) {
		nanosleep(&pause, NULL);
		ms += 5;
	}
	if (rc < 0)
		return rc;
	rc = drill_journal_lock(j, 0, NULL);
	if (rc == -EBUSY && kill_stale(j))
		rc = drill_journal_lock(j, INT64_C(2000000000), err);
	return rc;
}

static int heal_journal(struct healing *h, const char *path,
			struct drill_err *err)
{
	struct drill_journal *j;
	struct drill_err cut = { 0 };
	int rc = drill_journal_attach(path, &j, &cut);

	if (rc == -ENOENT) /* its owner has just closed it */
		return 0;
	if (rc < 0) {
		if (!h->bad++)
			snprintf(h->first, sizeof(h->first), "%.250s", cut.msg);
		return 0;
	}
	rc = h->list_only ? drill_journal_busy(j) ? -EBUSY : 0
			  : seize(j, &cut);
	if (rc == -EBUSY) {
		tell_held(h, j);
		rc = 0;
	} else if (rc < 0) {
		drill_err_set(err, rc, who, "%s",
			      cut.msg[0] ? cut.msg : "cannot lock a journal");
	} else {
		if (!h->list_only)
			drill_journal_fence(j);
		rc = drill_journal_read(j, err);
		if (rc == 0)
			heal_records(h, j);
		if (rc == 0 && !h->list_only && !drill_journal_has_work(j))
			rc = drill_journal_remove(j, err);
	}
	drill_journal_detach(j);
	return rc;
}

static int is_journal(const struct dirent *d)
{
	size_t n = strlen(d->d_name), m = strlen(".journal");

	return d->d_name[0] != '.' && n > m &&
	       !strcmp(d->d_name + n - m, ".journal");
}

static int heal_all(struct healing *h, const char *dir, struct drill_err *err)
{
	struct dirent **list;
	char path[512];
	int n = scandir(dir, &list, is_journal, alphasort), i, one, rc = 0;

	if (n < 0)
		return errno == ENOENT
			       ? 0
			       : drill_err_errno(err, errno, who,
						 "cannot read '%s'", dir);
	for (i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%.250s/%s", dir, list[i]->d_name);
		one = heal_journal(h, path, err);
		if (rc == 0)
			rc = one;
		free(list[i]);
	}
	free(list);
	return rc;
}

int drill_heal(const char *state_dir, bool list_only, json_t **ret,
	       struct drill_err *err)
{
	struct healing h = { .list_only = list_only, .out = json_array() };
	char dir[300];
	int rc;

	snprintf(dir, sizeof(dir), "%s/journal", state_dir);
	rc = heal_all(&h, dir, err);
	if (!list_only)
		drill_lock_sweep();
	if (ret)
		*ret = h.out;
	else
		json_decref(h.out);
	if (rc == 0 && h.bad)
		rc = drill_err_set(err, -EUCLEAN, who,
				   "%d record%s not proven clean: %s", h.bad,
				   h.bad > 1 ? "s" : "", h.first);
	return rc;
}

int drill_heal_forget(const char *state_dir, const char *id,
		      struct drill_err *err)
{
	char path[600];
	const char *dot = strrchr(id, '.');
	struct drill_journal *j;
	int i, rc;

	if (!dot || strchr(id, '/') || id[0] == '.')
		return drill_err_set(err, -EINVAL, who, "bad record id '%s'",
				     id);
	snprintf(path, sizeof(path), "%.200s/journal/%.*s.journal", state_dir,
		 (int)(dot - id), id);
	rc = drill_journal_attach(path, &j, err);
	if (rc < 0)
		return rc;
	rc = seize(j, err);
	if (rc < 0)
		drill_err_set(err, rc, who, "'%s' is held by a live drill", id);
	if (rc == 0)
		rc = drill_journal_read(j, err);
	for (i = 1; rc == 0 && i < DRILL_SLOTS; i++)
		if (j->slot[i] && !strcmp(j->slot[i]->id, id))
			break;
	if (rc == 0 && i == DRILL_SLOTS)
		rc = drill_err_set(err, -ENOENT, who, "no record '%s'", id);
	if (rc == 0)
		rc = drill_journal_forget(j, i, err);
	if (rc == 0 && !drill_journal_has_work(j))
		rc = drill_journal_remove(j, err);
	drill_journal_detach(j);
	return rc;
}

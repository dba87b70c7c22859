/* updown.c - how a lab on this machine comes up and goes down: record, lab, proof
 * SPDX-License-Identifier: MIT
 */
#include "updown.h"

#include "attach.h"
#include "lab_record.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>

static int remove_all(struct drill_lab *lab, struct drill_err *err)
{
	struct drill_lab_base *b = lab->impl;

	return drill_lab_remove(lab->dir, lab->mark, b->cgroup, err);
}

/* What is half made goes again; -EBUSY: it is another's, nothing was made. */
static int undo(struct drill_lab *lab, int rc, struct drill_err *err)
{
	struct drill_lab_base *b = lab->impl;
	struct drill_err why = {0};
	int undone = rc == -EBUSY ? 0 : remove_all(lab, &why);

	drill_lab_record_end(&b->record, undone, &why);
	return undone < 0 ? drill_err_set(err, undone, why.who, "%s", why.msg)
			  : rc;
}

static int bring_up(struct drill_lab *lab, const struct drill_lab_how *how,
		    struct drill_err *err)
{
	struct drill_lab_base *b = lab->impl;
	int rc;

	rc = drill_lab_record_open(lab, how->kind, b->cgroup, &b->record, err);
	if (rc < 0)
		return rc;
	rc = how->make(lab, err);
	if (rc < 0)
		return undo(lab, rc, err);
	/* A lab that is to stay is its own record from now on. */
	return lab->keep ? drill_lab_record_end(&b->record, 0, err) : 0;
}

/* @file: of the kept lab that is used; NULL: a new one. */
static int up_or_attach(struct drill_lab *lab, const struct drill_lab_how *how,
			json_t *file, struct drill_err *err)
{
	int rc = how->allocate(lab, err);

	if (rc == 0)
		rc = drill_provider_new(lab, how->place, err);
	if (rc < 0)
		return rc;
	if (!file)
		return bring_up(lab, how, err);
	((struct drill_lab_base *)lab->impl)->attached = true;
	rc = how->attach(lab, file, err);
	return rc < 0 ? rc : drill_lab_attach_clean(lab, err);
}

int drill_lab_up(struct drill_lab *lab, const struct drill_lab_how *how,
		 struct drill_err *err)
{
	json_t *file = NULL;
	int rc;

	rc = drill_lab_dir_name(lab, err);
	if (rc == 0 && !lab->keep)
		rc = drill_lab_attach_find(lab, &file, err);
	if (rc == 0)
		rc = up_or_attach(lab, how, file, err);
	json_decref(file);
	if (rc < 0) {
		drill_provider_free(lab);
		how->release(lab);
	}
	return rc;
}

/* A lab that is to stay loses only our hold on it, and what we left in it. */
static int take_away(struct drill_lab *lab, struct drill_err *err)
{
	struct drill_lab_base *b = lab->impl;
	int rc;

	if (b->attached)
		return drill_lab_attach_clean(lab, err);
	if (lab->keep)
		return 0;
	rc = remove_all(lab, err);
	drill_lab_record_end(&b->record, rc, err);
	return rc;
}

/* The loop that heard signals is gone by now, and one that came with nobody to
 * hear it would end us with the lab half removed. */
static void tell_pending(struct drill_lab *lab, const sigset_t *held)
{
	struct timespec now = {0};
	int signum;

	while ((signum = sigtimedwait(held, NULL, &now)) > 0)
		if (lab->cb.on_signal)
			lab->cb.on_signal(lab->cb.ctx, signum);
}

int drill_lab_down(struct drill_lab *lab, const struct drill_lab_how *how,
		   struct drill_err *err)
{
	sigset_t held, before;
	int rc = 0;

	sigemptyset(&held);
	sigaddset(&held, SIGINT);
	sigaddset(&held, SIGTERM);
	sigprocmask(SIG_BLOCK, &held, &before);
	drill_provider_free(lab);
	if (lab->impl)
		rc = take_away(lab, err);
	tell_pending(lab, &held);
	sigprocmask(SIG_SETMASK, &before, NULL);
	how->release(lab);
	return rc;
}

/* updown.h - how a lab on this machine comes up and goes down: record, lab, proof
 * SPDX-License-Identifier: MIT
 *
 * netns and local differ in what a host is; that the undo record comes first,
 * that a lab that is up already is used and left, and that a lab that failed
 * half way is taken away again is the same and lies here.
 */
#ifndef DRILL_UPDOWN_H
#define DRILL_UPDOWN_H

#include "lab_dir.h"
#include "provider.h"

/* The first member of what a provider keeps in lab->impl. */
struct drill_lab_base {
	bool attached;	  /* to one that was up before us, and stays */
	char cgroup[300]; /* of the whole lab; "": none */
	struct drill_lab_record record;
};

struct drill_lab_how {
	const char *kind; /* of its undo record */
	const struct drill_place *place;
	/* Fills lab->impl, ->hosts, ->n_hosts and the names; makes nothing. */
	int (*allocate)(struct drill_lab *lab, struct drill_err *err);
	/* The record is durable: makes directory, hosts and lab.json. */
	int (*make)(struct drill_lab *lab, struct drill_err *err);
	/* Takes hold of the kept lab of which @file tells. */
	int (*attach)(struct drill_lab *lab, json_t *file,
		      struct drill_err *err);
	/* Gives back all memory and descriptors; lab->impl may be NULL. */
	void (*release)(struct drill_lab *lab);
};

int drill_lab_up(struct drill_lab *lab, const struct drill_lab_how *how,
		 struct drill_err *err);

/* A user's signal meanwhile is told to lab->cb.on_signal when all is gone. */
int drill_lab_down(struct drill_lab *lab, const struct drill_lab_how *how,
		   struct drill_err *err);

#endif

/* ledger.h - the account of a slot while it is written
 * SPDX-License-Identifier: MIT
 */
#ifndef DRILL_MEASURE_LEDGER_H
#define DRILL_MEASURE_LEDGER_H

#include "model.h"

/* A part of a window, before its fate is looked at. */
struct part {
	double from, to;
	enum { PART_USEFUL, PART_CKPT, PART_CKPT_MORE, PART_DATA, PART_SLOW } is;
};

struct book {
	struct trial *t;
	const struct baseline *b;
	struct slot *slot;
	int s;
	double written;	       /* up to here the slot's pieces lie */
	VEC(struct part) part; /* scratch */
	bool dropped;	       /* the job trains without this slot */
	int drop_key;
	double drop_at;
	struct cut_row *row;   /* of the window being written, baseline only */
	double pending[NCATS]; /* since the last kept window */
	bool no_memory;
};

/* How a piece is lost. */
struct loss {
	enum why why;
	int key;
	double at;
	bool ordinary;
};

/* Enters [from, to) of the slot; what was released is left out. */
void book_enter(struct book *k, double from, double to, enum cat cat,
		struct loss loss);

enum fate { FATE_KEPT, FATE_DISCARDED, FATE_UNFINISHED };

/* Enters a window of @e. UNFINISHED: a step that was begun, kept by nobody,
 * whose loss is @loss. */
void book_window(struct book *k, struct exec *e, double from, double to,
		 enum fate fate, struct loss loss);
/* Enters [from, to) as work under way: checkpoint, else useful. */
void book_running(struct book *k, double from, double to);
/* Enters what follows the last step of a job that is done. */
void book_tail(struct book *k, const struct exec *e, double from, double to);

#endif

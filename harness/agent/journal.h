/* journal.h - the durable undo records of a host: written before the change
 * SPDX-License-Identifier: MIT
 *
 * A journal is one file STATE/journal/RUN.HOST.journal with one writer. It is
 * allocated in full when it is opened, so that a full filesystem is met before
 * a fault and never during one. Slot 0 holds the lease (lease.h), each further
 * slot one record as text, so that `strings` shows what is in force:
 *
 *   faultdrill.record/1 <16 hex digits: XXH64 of the JSON> <its bytes>\n
 *   {one JSON object, keys sorted}\n
 *   zeros up to DRILL_SLOT_BYTES
 *
 * A slot that is neither all zeros nor whole is torn: its record is unknown,
 * which is dirty, never skipped. The writer holds an open-file-description lock
 * on its slots; whoever else wants to revert kills the writer through a pidfd,
 * takes those locks and raises the lease's epoch, which fences a late writer.
 */
#ifndef DRILL_JOURNAL_H
#define DRILL_JOURNAL_H

#include "harness/core/err.h"
#include "injectors/injector.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define DRILL_SLOT_BYTES 4096
#define DRILL_SLOTS 64 /* slot 0 is the lease */

struct drill_journal;
struct drill_record; /* one undo record; owned by its journal */

enum drill_record_state {
	DRILL_RECORD_FREE,
	DRILL_RECORD_OPEN,   /* in force, or perhaps in force */
	DRILL_RECORD_CLOSED, /* reverted and proven, or never changed anything */
	DRILL_RECORD_DIRTY,  /* could not be proven clean; the reason says why */
	DRILL_RECORD_TORN,   /* unknown: read back damaged */
};

/* What a record says besides its values. Strings are copied. */
struct drill_record_info {
	const char *kind;   /* injector or lab kind: "host.stop", "lab.netns" */
	const char *fault;  /* its name in the scenario, "" for a lab object */
	const char *target; /* "rank 3", "host h1" */
	struct drill_process process; /* pid 0: no process is the target */
	enum drill_survives survives;
	int64_t deadline_boot_ns; /* CLOCK_BOOTTIME; 0: none */
	bool keep;	    /* `lab up`: heal lists it and leaves it alone */
};

/* Where state lies: @option if given, else /var/lib/faultdrill as root, else
 * $XDG_STATE_HOME/faultdrill or ~/.local/state/faultdrill. Returns @buf. */
const char *drill_state_dir(const char *option, char *buf, int size);

/* Creates the journal of @run on @host (mode 0600, directories made as needed),
 * allocates and locks it, everything durable before it returns. No room:
 * -ENOSPC with a text that says what to free. Yours: drill_journal_close. */
int drill_journal_open(const char *state_dir, const char *run, const char *host,
		       struct drill_journal **ret, struct drill_err *err);

/* Gives up the locks; the file goes away (durably) unless a record in it is
 * open, dirty or torn. NULL is allowed. */
void drill_journal_close(struct drill_journal *j);

/* Begins a record in a free slot; nothing is on disk until commit. -ENOSPC when
 * all slots are taken. The record is the journal's. */
int drill_record_new(struct drill_journal *j,
		     const struct drill_record_info *info,
		     struct drill_record **ret, struct drill_err *err);

/* Values of the injector's own; an existing key is replaced. In memory until
 * the next commit; one that does not fit makes that commit fail. */
int drill_record_put(struct drill_record *r, const char *key, const char *value,
		     struct drill_err *err);
int drill_record_put_int(struct drill_record *r, const char *key, int64_t value,
			 struct drill_err *err);
/* The value before our change, and the one we set: revert leaves alone what is
 * no longer ours, and proves that the original is back. */
int drill_record_original(struct drill_record *r, const char *key,
			  const char *original, const char *ours,
			  struct drill_err *err);

/* Durable when it returns 0; call it before every change. -ESTALE: we are
 * fenced (somebody else reverts or has reverted): change nothing. */
int drill_record_commit(struct drill_record *r, struct drill_err *err);

/* After revert and verify: the slot says so durably, then is free again. The
 * record is gone after a state of CLOSED. DIRTY keeps it with @reason. */
int drill_record_end(struct drill_record *r, enum drill_record_state state,
		     const char *reason, struct drill_err *err);

/* Reading: NULL or @missing when there is no such key. Borrowed from @r until
 * it changes. */
const char *drill_record_get(const struct drill_record *r, const char *key);
int64_t drill_record_get_int(const struct drill_record *r, const char *key,
			     int64_t missing);
const char *drill_record_get_ours(const struct drill_record *r,
				  const char *key);
void drill_record_info(const struct drill_record *r,
		       struct drill_record_info *ret);
enum drill_record_state drill_record_state(const struct drill_record *r);
const char *drill_record_reason(const struct drill_record *r);
/* "RUN.HOST.SEQ": how people name it. Borrowed. */
const char *drill_record_id(const struct drill_record *r);
/* Our mark, unique to this record: put it inside what is changed. */
const char *drill_record_mark(const struct drill_record *r);
/* Was it written in the boot that is running now? */
bool drill_record_this_boot(const struct drill_record *r);

/* Gives a descriptor that must outlive the agent to its keeper, by name; the
 * caller keeps its own. Without a keeper: a no-op. */
int drill_record_hold(struct drill_record *r, const char *name, int fd,
		      struct drill_err *err);
/* The held descriptor, or -1: then work from the values alone. Borrowed. */
int drill_record_fd(const struct drill_record *r, const char *name);

#endif

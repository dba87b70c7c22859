/* journal_file.h - a journal from inside: for its writer, the keeper and heal
 * SPDX-License-Identifier: MIT
 */
#ifndef DRILL_JOURNAL_FILE_H
#define DRILL_JOURNAL_FILE_H

#include "journal.h"
#include "lease.h"

#include <stddef.h>

#define DRILL_HELD 4 /* descriptors that a record may give to its keeper */

struct drill_record {
	struct drill_journal *journal; /* NULL while only decoded */
	int slot;
	enum drill_record_state state;
	json_t *doc;	/* all that is on disk; NULL when torn */
	char id[192];
	char mark[40];
	struct {
		char name[16];
		int fd;
	} held[DRILL_HELD];
	int n_held;
};

struct drill_journal {
	int fd;
	char path[512];
	char stem[160]; /* "RUN.HOST" */
	struct drill_lease *lease;
	uint64_t epoch; /* ours; another one in the lease: we are fenced */
	uint64_t seq;
	struct drill_record *slot[DRILL_SLOTS];
	int hold_fd; /* to the keeper, -1 without one */
	/* Called for tests of crash points, at each named boundary. */
	void (*boundary)(const char *name);
};

/* What a message of drill_record_hold says; the descriptor rides along. */
struct drill_hold_message {
	int32_t slot; /* -1: all is closed, the holder ends in peace */
	char name[16];
};

/* The bytes of a slot from a record, and back. Encode: -E2BIG when too long.
 * Decode never fails: anything unreadable is TORN. */
int drill_record_encode(const struct drill_record *r,
			char slot[DRILL_SLOT_BYTES], struct drill_err *err);
void drill_record_decode(const char slot[DRILL_SLOT_BYTES],
			 struct drill_record *ret);
void drill_record_free(struct drill_record *r);

/* Opens an existing journal, unlocked and with no record read yet. */
int drill_journal_attach(const char *path, struct drill_journal **ret,
			 struct drill_err *err);
/* Takes the locks of all its records; -EBUSY when another has them after
 * @timeout_ns. */
int drill_journal_lock(struct drill_journal *j, int64_t timeout_ns,
		       struct drill_err *err);
/* The keeper's own lock, byte 0 of the lease; -EBUSY: there is a keeper. */
int drill_journal_lock_keeper(struct drill_journal *j, struct drill_err *err);
/* Has anybody else one of its locks? */
bool drill_journal_busy(const struct drill_journal *j);
/* Raises the epoch: from now on the old holder is fenced and we write. */
void drill_journal_fence(struct drill_journal *j);
/* Reads all slots that are not free. */
int drill_journal_read(struct drill_journal *j, struct drill_err *err);
/* Forgets it in memory; the file stays. */
void drill_journal_detach(struct drill_journal *j);
/* Removes the file durably. */
int drill_journal_remove(struct drill_journal *j, struct drill_err *err);
/* Makes one slot free durably, whatever it holds. */
int drill_journal_forget(struct drill_journal *j, int slot,
			 struct drill_err *err);
bool drill_journal_has_work(const struct drill_journal *j);

#endif

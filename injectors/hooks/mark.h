/* mark.h - what a process counts for a fault begins anew when it is armed anew
 * SPDX-License-Identifier: MIT
 *
 * A fault has a mark that is drawn at each arming. Beside its count a process
 * keeps the mark that it is of:
 *
 *	if (drill_mark_is_new(&mine, &theirs)) {
 *		forget the count;
 *		drill_mark_keep(&mine, &theirs);
 *	}
 *
 * Of several threads one forgets; the others wait meanwhile, for what they count
 * is of the new arming already and would be forgotten, too.
 */
#ifndef DRILL_MARK_H
#define DRILL_MARK_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define DRILL_MARK_IN_BETWEEN UINT64_MAX

static inline void drill_mark_keep(_Atomic uint64_t *mine,
				   const _Atomic uint64_t *theirs)
{
	atomic_store(mine, atomic_load(theirs));
}

/* True: the caller has to forget and keep; it alone. */
static inline bool drill_mark_is_new(_Atomic uint64_t *mine,
				     const _Atomic uint64_t *theirs)
{
	uint64_t seen;

	while ((seen = atomic_load(mine)) != atomic_load(theirs)) {
		if (seen != DRILL_MARK_IN_BETWEEN &&
		    atomic_compare_exchange_strong(mine, &seen,
						   DRILL_MARK_IN_BETWEEN))
			return true;
		sched_yield();
	}
	return false;
}

#endif

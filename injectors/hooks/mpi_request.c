/* mpi_request.c - waits and tests, and the end of a non-blocking collective
 * SPDX-License-Identifier: MIT
 *
 * A non-blocking collective that an entry names is left when its request is
 * complete, not when the call returns. One such call is followed at a time.
 */
#include "mpi_next.h"

#include <pthread.h>

_Atomic int mpi_pending;

static struct {
	struct hook_call call;
	MPI_Request request;
	MPI_Fint request_f;
} pending;

void mpi_pend(struct hook_call *c, MPI_Request request)
{
	if (!(c->fire & ~c->done) && !c->witness)
		return;
	if (atomic_exchange(&mpi_pending, 1))
		return;
	pending.call = *c;
	pending.request = request;
	pending.request_f = NEXT(Request_c2f)(request);
	atomic_store(&mpi_pending, 2);
	/* hook_leave must not take it for complete. */
	c->slow = 0;
}

int mpi_pending_find(int n, const MPI_Request *list)
{
	for (int i = 0; i < n; i++)
		if (list[i] == pending.request)
			return i;
	return -1;
}

int mpi_pending_find_f(int n, const MPI_Fint *list)
{
	for (int i = 0; i < n; i++)
		if (list[i] == pending.request_f)
			return i;
	return -1;
}

void mpi_pending_done(void)
{
	struct hook_call c = pending.call;
	int two = 2;

	if (!atomic_compare_exchange_strong(&mpi_pending, &two, 0))
		return;
	hook_store(&hook_lane->word, c.word);
	drill_hook_after(&c);
}

#define LIST(...) __VA_ARGS__

/* @n requests at @list; the wait itself is counted like any call. */
#define WAITS(WORD, Name, n, list, args, ...)                                  \
	EXPORT int MPI_##Name(__VA_ARGS__)                                     \
	{                                                                      \
		struct hook_call c;                                            \
		int ret, at = -1;                                              \
                                                                               \
		hook_enter(&c, DRILL_WORD_##WORD);                             \
		if (c.me && atomic_load(&mpi_pending) == 2)                    \
			at = mpi_pending_find(n, list);                        \
		ret = NEXT(Name)(LIST args);                                   \
		if (c.me && at >= 0 && (list)[at] == mpi_request_null)         \
			mpi_pending_done();                                    \
		hook_leave(&c);                                                \
		return ret;                                                    \
	}

WAITS(WAIT, Wait, 1, q, (q, s), MPI_Request *q, MPI_Status *s)
WAITS(WAIT, Waitall, n, q, (n, q, s), int n, MPI_Request *q, MPI_Status *s)
WAITS(WAIT, Waitany, n, q, (n, q, i, s), int n, MPI_Request *q, int *i,
      MPI_Status *s)
WAITS(WAIT, Waitsome, n, q, (n, q, k, i, s), int n, MPI_Request *q, int *k,
      int *i, MPI_Status *s)
WAITS(TEST, Test, 1, q, (q, f, s), MPI_Request *q, int *f, MPI_Status *s)
WAITS(TEST, Testall, n, q, (n, q, f, s), int n, MPI_Request *q, int *f,
      MPI_Status *s)
WAITS(TEST, Testany, n, q, (n, q, i, f, s), int n, MPI_Request *q, int *i,
      int *f, MPI_Status *s)
WAITS(TEST, Testsome, n, q, (n, q, k, i, s), int n, MPI_Request *q, int *k,
      int *i, MPI_Status *s)

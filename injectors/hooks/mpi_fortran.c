/* mpi_fortran.c - the Fortran entry points: mpif.h, use mpi, use mpi_f08
 * SPDX-License-Identifier: MIT
 *
 * A Fortran call does not pass through the C entry points (the library's
 * Fortran layer calls PMPI_*), so it is bracketed here and goes on to the
 * library's own Fortran symbol. Everything is an address; the error comes last
 * and may be absent in the interface of 2008. gfortran's names: lower case and
 * one underscore; f08 names end in _f08_.
 */
#include "mpi_next.h"

#include "mpi_calls.h"

#define INT(a) (*(const MPI_Fint *)(a))
#define TYPE(a) NEXT(Type_f2c)(INT(a))
#define COMM(a) NEXT(Comm_f2c)(INT(a))
#define BYTES(n, t) mpi_bytes(INT(n), TYPE(t))
#define BYTES_ALL(counts, n, t, m) mpi_bytes_all(counts, n, TYPE(t), COMM(m))
#define IF_GIVEN_F(s, bytes) (is_in_place(s) ? 0 : (bytes))

static bool is_in_place(const void *buffer)
{
	static _Atomic(void *) place;
	void *p = atomic_load_explicit(&place, memory_order_relaxed);

	if (!p) {
		p = mpi_next_data("mpi_fortran_in_place_");
		atomic_store_explicit(&place, p ? p : (void *)&place,
				      memory_order_relaxed);
	}
	/* Without the marker nothing is known about the buffer: no bytes. */
	return !p || p == (void *)&place || buffer == p;
}

#define P1 void *a0
#define P2 P1, void *a1
#define P3 P2, void *a2
#define P4 P3, void *a3
#define P5 P4, void *a4
#define P6 P5, void *a5
#define P7 P6, void *a6
#define P8 P7, void *a7
#define P9 P8, void *a8
#define P10 P9, void *a9
#define P11 P10, void *a10
#define P12 P11, void *a11
#define A1 a0
#define A2 A1, a1
#define A3 A2, a2
#define A4 A3, a3
#define A5 A4, a4
#define A6 A5, a5
#define A7 A6, a6
#define A8 A7, a7
#define A9 A8, a8
#define A10 A9, a9
#define A11 A10, a10
#define A12 A11, a11

/* One entry point: @before and @done are statements around the call. */
#define ENTRY(WORD, symbol, params, args, before, done)                        \
	EXPORT void m##symbol(params, MPI_Fint *error);                        \
	void m##symbol(params, MPI_Fint *error)                                \
	{                                                                      \
		struct hook_call c;                                            \
		int at = -1;                                                   \
                                                                               \
		hook_enter(&c, DRILL_WORD_##WORD);                             \
		if (c.me) {                                                    \
			before;                                                \
		}                                                              \
		NEXT_NAMED("pm" #symbol, void (*)(params, MPI_Fint *))         \
			(args, error);                                         \
		if (c.me && (!error || *error == MPI_SUCCESS)) {               \
			done;                                                  \
		}                                                              \
		(void)at;                                                      \
		hook_leave(&c);                                                \
	}
#define LIST(...) __VA_ARGS__
#define BOTH(WORD, name, params, args, before, done)                           \
	ENTRY(WORD, pi_##name##_, LIST(params), LIST(args), before, done)      \
	ENTRY(WORD, pi_##name##_f08_, LIST(params), LIST(args), before, done)

#define PEND(request)                                                          \
	do {                                                                   \
		if (c.slow)                                                    \
			mpi_pend(&c, NEXT(Request_f2c)(*(request)));           \
	} while (0)

#define FORT(WORD, name, n, bytes)                                             \
	BOTH(WORD, name, LIST(P##n), LIST(A##n), , hook_bytes(&c, (bytes)))    \
	BOTH(WORD, i##name, LIST(P##n, MPI_Fint *q), LIST(A##n, q), ,          \
	     hook_bytes(&c, (bytes)); PEND(q))

MPI_COLLECTIVES_F(FORT)

static void sent_to(const struct hook_call *c, const void *n, const void *t,
		    const void *to, const void *m)
{
	uint64_t bytes = INT(to) == MPI_PROC_NULL ? 0 : BYTES(n, t);

	hook_bytes(c, bytes);
	if (INT(to) != MPI_PROC_NULL)
		mpi_sent(c, COMM(m), INT(to), bytes);
}

#define SENDS(name, n)                                                         \
	BOTH(SEND, name, LIST(P##n), LIST(A##n), , sent_to(&c, a1, a2, a3, a5))
#define COUNTS(WORD, name, n) BOTH(WORD, name, LIST(P##n), LIST(A##n), , )

SENDS(send, 6)
SENDS(bsend, 6)
SENDS(ssend, 6)
SENDS(rsend, 6)
SENDS(isend, 7)
SENDS(ibsend, 7)
SENDS(issend, 7)
SENDS(irsend, 7)
COUNTS(RECV, recv, 7)
COUNTS(RECV, irecv, 7)
COUNTS(RECV, mrecv, 5)
COUNTS(RECV, imrecv, 5)
BOTH(SENDRECV, sendrecv, LIST(P12), LIST(A12), ,
     sent_to(&c, a1, a2, a3, a10))
BOTH(SENDRECV, sendrecv_replace, LIST(P9), LIST(A9), ,
     sent_to(&c, a1, a2, a3, a7))
COUNTS(PROBE, probe, 4)
COUNTS(PROBE, iprobe, 5)
COUNTS(PROBE, mprobe, 5)
COUNTS(PROBE, improbe, 6)

/* @n requests at @list, as in mpi_request.c. */
#define WAITS(WORD, name, k, n, list)                                          \
	BOTH(WORD, name, LIST(P##k), LIST(A##k),                               \
	     if (atomic_load(&mpi_pending) == 2)                               \
		     at = mpi_pending_find_f(n, list),                         \
	     if (at >= 0 &&                                                    \
		 ((const MPI_Fint *)(list))[at] == mpi_request_null_f)         \
		     mpi_pending_done())

WAITS(WAIT, wait, 2, 1, a0)
WAITS(WAIT, waitall, 3, INT(a0), a1)
WAITS(WAIT, waitany, 4, INT(a0), a1)
WAITS(WAIT, waitsome, 5, INT(a0), a1)
WAITS(TEST, test, 3, 1, a0)
WAITS(TEST, testall, 4, INT(a0), a1)
WAITS(TEST, testany, 5, INT(a0), a1)
WAITS(TEST, testsome, 5, INT(a0), a1)

/* mpi_point.c - the C entry points of point-to-point calls, counted by peer
 * SPDX-License-Identifier: MIT
 */
#include "mpi_next.h"

#define LIST(...) __VA_ARGS__

/* @sent is a statement that counts what went out once the call has succeeded. */
#define CALL(WORD, Name, sent, args, ...)                                      \
	EXPORT int MPI_##Name(__VA_ARGS__)                                     \
	{                                                                      \
		struct hook_call c;                                            \
		int ret;                                                       \
                                                                               \
		hook_enter(&c, DRILL_WORD_##WORD);                             \
		ret = NEXT(Name)(LIST args);                                   \
		if (c.me && ret == MPI_SUCCESS)                                \
			sent;                                                  \
		hook_leave(&c);                                                \
		return ret;                                                    \
	}

static void sent_to(const struct hook_call *c, int n, MPI_Datatype type,
		    int to, MPI_Comm comm)
{
	uint64_t bytes = to == MPI_PROC_NULL ? 0 : mpi_bytes(n, type);

	hook_bytes(c, bytes);
	if (to != MPI_PROC_NULL)
		mpi_sent(c, comm, to, bytes);
}

#define SEND(Name)                                                             \
	CALL(SEND, Name, sent_to(&c, n, t, to, m), (b, n, t, to, tag, m),      \
	     const void *b, int n, MPI_Datatype t, int to, int tag,            \
	     MPI_Comm m)
#define ISEND(Name)                                                            \
	CALL(SEND, Name, sent_to(&c, n, t, to, m), (b, n, t, to, tag, m, q),   \
	     const void *b, int n, MPI_Datatype t, int to, int tag,            \
	     MPI_Comm m, MPI_Request *q)

SEND(Send)
SEND(Bsend)
SEND(Ssend)
SEND(Rsend)
ISEND(Isend)
ISEND(Ibsend)
ISEND(Issend)
ISEND(Irsend)

CALL(RECV, Recv, (void)0, (b, n, t, from, tag, m, s), void *b, int n,
     MPI_Datatype t, int from, int tag, MPI_Comm m, MPI_Status *s)
CALL(RECV, Irecv, (void)0, (b, n, t, from, tag, m, q), void *b, int n,
     MPI_Datatype t, int from, int tag, MPI_Comm m, MPI_Request *q)
CALL(RECV, Mrecv, (void)0, (b, n, t, g, s), void *b, int n, MPI_Datatype t,
     MPI_Message *g, MPI_Status *s)
CALL(RECV, Imrecv, (void)0, (b, n, t, g, q), void *b, int n, MPI_Datatype t,
     MPI_Message *g, MPI_Request *q)

CALL(SENDRECV, Sendrecv, sent_to(&c, n, t, to, m),
     (b, n, t, to, tag, r, k, u, from, gat, m, s), const void *b, int n,
     MPI_Datatype t, int to, int tag, void *r, int k, MPI_Datatype u, int from,
     int gat, MPI_Comm m, MPI_Status *s)
CALL(SENDRECV, Sendrecv_replace, sent_to(&c, n, t, to, m),
     (b, n, t, to, tag, from, gat, m, s), void *b, int n, MPI_Datatype t,
     int to, int tag, int from, int gat, MPI_Comm m, MPI_Status *s)

CALL(PROBE, Probe, (void)0, (from, tag, m, s), int from, int tag, MPI_Comm m,
     MPI_Status *s)
CALL(PROBE, Iprobe, (void)0, (from, tag, m, flag, s), int from, int tag,
     MPI_Comm m, int *flag, MPI_Status *s)
CALL(PROBE, Mprobe, (void)0, (from, tag, m, g, s), int from, int tag,
     MPI_Comm m, MPI_Message *g, MPI_Status *s)
CALL(PROBE, Improbe, (void)0, (from, tag, m, flag, g, s), int from, int tag,
     MPI_Comm m, int *flag, MPI_Message *g, MPI_Status *s)

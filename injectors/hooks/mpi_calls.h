/* mpi_calls.h - every collective of MPI-3.1 in one table, for C and Fortran
 * SPDX-License-Identifier: MIT
 *
 * COLL(WORD, Name, name, bytes, (arguments), parameters): the blocking call;
 * the non-blocking one has a request behind. `bytes` is what this process gives
 * as far as one type says it. A type may be looked at only where MPI says that
 * it is significant; IN_PLACE and PROC_NULL make some of them nothing.
 *
 * FORT(WORD, name, number of arguments, bytes): all are addresses, a0, a1, ...
 */
#define IF_GIVEN(s, bytes) ((s) == MPI_IN_PLACE ? 0 : (bytes))
#define IF_PART(root, bytes) ((root) == MPI_PROC_NULL ? 0 : (bytes))

#define MPI_COLLECTIVES(COLL)                                                  \
COLL(BARRIER, Barrier, barrier, 0, (m), MPI_Comm m)                            \
COLL(BCAST, Bcast, bcast, IF_PART(root, mpi_bytes(n, t)),                      \
     (b, n, t, root, m),                                                       \
     void *b, int n, MPI_Datatype t, int root, MPI_Comm m)                     \
COLL(REDUCE, Reduce, reduce, IF_PART(root, mpi_bytes(n, t)),                   \
     (s, r, n, t, o, root, m),                                                 \
     const void *s, void *r, int n, MPI_Datatype t, MPI_Op o, int root,        \
     MPI_Comm m)                                                               \
COLL(ALLREDUCE, Allreduce, allreduce, mpi_bytes(n, t),                         \
     (s, r, n, t, o, m),                                                       \
     const void *s, void *r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm m)      \
COLL(REDUCE_SCATTER, Reduce_scatter, reduce_scatter,                           \
     mpi_bytes_all(n, 0, t, m), (s, r, n, t, o, m),                            \
     const void *s, void *r, const int *n, MPI_Datatype t, MPI_Op o,           \
     MPI_Comm m)                                                               \
COLL(REDUCE_SCATTER, Reduce_scatter_block, reduce_scatter_block,               \
     mpi_bytes_all(NULL, n, t, m), (s, r, n, t, o, m),                         \
     const void *s, void *r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm m)      \
COLL(ALLGATHER, Allgather, allgather, IF_GIVEN(s, mpi_bytes(n, t)),            \
     (s, n, t, r, k, u, m),                                                    \
     const void *s, int n, MPI_Datatype t, void *r, int k, MPI_Datatype u,     \
     MPI_Comm m)                                                               \
COLL(ALLGATHER, Allgatherv, allgatherv, IF_GIVEN(s, mpi_bytes(n, t)),          \
     (s, n, t, r, k, d, u, m),                                                 \
     const void *s, int n, MPI_Datatype t, void *r, const int *k,              \
     const int *d, MPI_Datatype u, MPI_Comm m)                                 \
COLL(GATHER, Gather, gather, IF_PART(root, IF_GIVEN(s, mpi_bytes(n, t))),      \
     (s, n, t, r, k, u, root, m),                                              \
     const void *s, int n, MPI_Datatype t, void *r, int k, MPI_Datatype u,     \
     int root, MPI_Comm m)                                                     \
COLL(GATHER, Gatherv, gatherv, IF_PART(root, IF_GIVEN(s, mpi_bytes(n, t))),    \
     (s, n, t, r, k, d, u, root, m),                                           \
     const void *s, int n, MPI_Datatype t, void *r, const int *k,              \
     const int *d, MPI_Datatype u, int root, MPI_Comm m)                       \
COLL(SCATTER, Scatter, scatter, IF_PART(root, IF_GIVEN(r, mpi_bytes(k, u))),   \
     (s, n, t, r, k, u, root, m),                                              \
     const void *s, int n, MPI_Datatype t, void *r, int k, MPI_Datatype u,     \
     int root, MPI_Comm m)                                                     \
COLL(SCATTER, Scatterv, scatterv, IF_PART(root, IF_GIVEN(r, mpi_bytes(k, u))), \
     (s, n, d, t, r, k, u, root, m),                                           \
     const void *s, const int *n, const int *d, MPI_Datatype t, void *r,       \
     int k, MPI_Datatype u, int root, MPI_Comm m)                              \
COLL(ALLTOALL, Alltoall, alltoall, IF_GIVEN(s, mpi_bytes_all(NULL, n, t, m)),  \
     (s, n, t, r, k, u, m),                                                    \
     const void *s, int n, MPI_Datatype t, void *r, int k, MPI_Datatype u,     \
     MPI_Comm m)                                                               \
COLL(ALLTOALL, Alltoallv, alltoallv, IF_GIVEN(s, mpi_bytes_all(n, 0, t, m)),   \
     (s, n, d, t, r, k, e, u, m),                                              \
     const void *s, const int *n, const int *d, MPI_Datatype t, void *r,       \
     const int *k, const int *e, MPI_Datatype u, MPI_Comm m)                   \
COLL(ALLTOALL, Alltoallw, alltoallw, 0, (s, n, d, t, r, k, e, u, m),           \
     const void *s, const int *n, const int *d, const MPI_Datatype *t,         \
     void *r, const int *k, const int *e, const MPI_Datatype *u, MPI_Comm m)   \
COLL(SCAN, Scan, scan, mpi_bytes(n, t), (s, r, n, t, o, m),                    \
     const void *s, void *r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm m)      \
COLL(SCAN, Exscan, exscan, mpi_bytes(n, t), (s, r, n, t, o, m),                \
     const void *s, void *r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm m)      \
COLL(NEIGHBOR, Neighbor_allgather, neighbor_allgather, 0,                      \
     (s, n, t, r, k, u, m),                                                    \
     const void *s, int n, MPI_Datatype t, void *r, int k, MPI_Datatype u,     \
     MPI_Comm m)                                                               \
COLL(NEIGHBOR, Neighbor_allgatherv, neighbor_allgatherv, 0,                    \
     (s, n, t, r, k, d, u, m),                                                 \
     const void *s, int n, MPI_Datatype t, void *r, const int *k,              \
     const int *d, MPI_Datatype u, MPI_Comm m)                                 \
COLL(NEIGHBOR, Neighbor_alltoall, neighbor_alltoall, 0,                        \
     (s, n, t, r, k, u, m),                                                    \
     const void *s, int n, MPI_Datatype t, void *r, int k, MPI_Datatype u,     \
     MPI_Comm m)                                                               \
COLL(NEIGHBOR, Neighbor_alltoallv, neighbor_alltoallv, 0,                      \
     (s, n, d, t, r, k, e, u, m),                                              \
     const void *s, const int *n, const int *d, MPI_Datatype t, void *r,       \
     const int *k, const int *e, MPI_Datatype u, MPI_Comm m)                   \
COLL(NEIGHBOR, Neighbor_alltoallw, neighbor_alltoallw, 0,                      \
     (s, n, d, t, r, k, e, u, m),                                              \
     const void *s, const int *n, const MPI_Aint *d, const MPI_Datatype *t,    \
     void *r, const int *k, const MPI_Aint *e, const MPI_Datatype *u,          \
     MPI_Comm m)

#define MPI_COLLECTIVES_F(FORT)                                                \
FORT(BARRIER, barrier, 1, 0)                                                   \
FORT(BCAST, bcast, 5, IF_PART(INT(a3), BYTES(a1, a2)))                         \
FORT(REDUCE, reduce, 7, IF_PART(INT(a5), BYTES(a2, a3)))                       \
FORT(ALLREDUCE, allreduce, 6, BYTES(a2, a3))                                   \
FORT(REDUCE_SCATTER, reduce_scatter, 6, BYTES_ALL(a2, 0, a3, a5))              \
FORT(REDUCE_SCATTER, reduce_scatter_block, 6,                                  \
     BYTES_ALL(NULL, INT(a2), a3, a5))                                         \
FORT(ALLGATHER, allgather, 7, IF_GIVEN_F(a0, BYTES(a1, a2)))                   \
FORT(ALLGATHER, allgatherv, 8, IF_GIVEN_F(a0, BYTES(a1, a2)))                  \
FORT(GATHER, gather, 8, IF_PART(INT(a6), IF_GIVEN_F(a0, BYTES(a1, a2))))       \
FORT(GATHER, gatherv, 9, IF_PART(INT(a7), IF_GIVEN_F(a0, BYTES(a1, a2))))      \
FORT(SCATTER, scatter, 8, IF_PART(INT(a6), IF_GIVEN_F(a3, BYTES(a4, a5))))     \
FORT(SCATTER, scatterv, 9, IF_PART(INT(a7), IF_GIVEN_F(a4, BYTES(a5, a6))))    \
FORT(ALLTOALL, alltoall, 7,                                                    \
     IF_GIVEN_F(a0, BYTES_ALL(NULL, INT(a1), a2, a6)))                         \
FORT(ALLTOALL, alltoallv, 9, IF_GIVEN_F(a0, BYTES_ALL(a1, 0, a3, a8)))         \
FORT(ALLTOALL, alltoallw, 9, 0)                                                \
FORT(SCAN, scan, 6, BYTES(a2, a3))                                             \
FORT(SCAN, exscan, 6, BYTES(a2, a3))                                           \
FORT(NEIGHBOR, neighbor_allgather, 7, 0)                                       \
FORT(NEIGHBOR, neighbor_allgatherv, 8, 0)                                      \
FORT(NEIGHBOR, neighbor_alltoall, 7, 0)                                        \
FORT(NEIGHBOR, neighbor_alltoallv, 9, 0)                                       \
FORT(NEIGHBOR, neighbor_alltoallw, 9, 0)

! classic.f90 - the calls of words.c through `use mpi`
! SPDX-License-Identifier: MIT
program classic
  use mpi
  implicit none
  integer :: error, rank, size, step, request, status(MPI_STATUS_SIZE)
  double precision :: a(64), b(64)
  integer :: c(10), d(10)

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, size, error)
  a = rank
  c = rank
  do step = 1, 3
     call MPI_Allreduce(a, b, 64, MPI_DOUBLE_PRECISION, MPI_SUM, &
          MPI_COMM_WORLD, error)
     call MPI_Iallreduce(a, b, 64, MPI_DOUBLE_PRECISION, MPI_SUM, &
          MPI_COMM_WORLD, request, error)
     call MPI_Wait(request, status, error)
     call MPI_Barrier(MPI_COMM_WORLD, error)
     call MPI_Sendrecv(c, 10, MPI_INTEGER, mod(rank + 1, size), 0, d, 10, &
          MPI_INTEGER, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, status, error)
     if (b(1) /= size * (size - 1) / 2) call MPI_Abort(MPI_COMM_WORLD, 7, error)
  end do
  call MPI_Finalize(error)
end program classic

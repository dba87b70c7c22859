! modern.f90 - the calls of words.c through `use mpi_f08`, errors left out
! SPDX-License-Identifier: MIT
program modern
  use mpi_f08
  implicit none
  integer :: rank, size, step
  type(MPI_Request) :: request
  type(MPI_Status) :: status
  double precision :: a(64), b(64)
  integer :: c(10), d(10)

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  a = rank
  c = rank
  do step = 1, 3
     call MPI_Allreduce(a, b, 64, MPI_DOUBLE_PRECISION, MPI_SUM, &
          MPI_COMM_WORLD)
     call MPI_Iallreduce(a, b, 64, MPI_DOUBLE_PRECISION, MPI_SUM, &
          MPI_COMM_WORLD, request)
     call MPI_Wait(request, status)
     call MPI_Barrier(MPI_COMM_WORLD)
     call MPI_Sendrecv(c, 10, MPI_INTEGER, mod(rank + 1, size), 0, d, 10, &
          MPI_INTEGER, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, status)
     if (b(1) /= size * (size - 1) / 2) call MPI_Abort(MPI_COMM_WORLD, 7)
  end do
  call MPI_Finalize()
end program modern

#!/bin/sh
# mpi_hook.sh - the MPI hook on real MPI programs in C and Fortran
# SPDX-License-Identifier: MIT
build=$(cd "${BUILD:-build}" && pwd) || exit 3
for tool in mpicc mpirun; do
	command -v $tool >/dev/null || {
		echo "SKIP the MPI hook on real programs: no $tool"
		exit 0
	}
done
exec "$build/tests/mpi/drive" "$build/tests/mpi" "$build/libfaultdrill-mpi.so"

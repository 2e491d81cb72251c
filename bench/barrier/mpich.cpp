// SPDX-License-Identifier: Apache-2.0
#include "mpi_barrier.hpp"

int main(int argc, char** argv) { return tulle::bench::mpi_barrier_main(argc, argv, "mpich"); }

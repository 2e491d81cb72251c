// SPDX-License-Identifier: Apache-2.0
#include "mpi_hpccg.hpp"

int main(int argc, char** argv) { return tulle::bench::mpi_hpccg_main(argc, argv, "mpich"); }

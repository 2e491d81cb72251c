// SPDX-License-Identifier: Apache-2.0
#include "mpi_calls.hpp"

int main(int argc, char** argv) { return tulle::bench::mpi_calls_main(argc, argv, "openmpi"); }

// SPDX-License-Identifier: Apache-2.0
#include "mpi_window.hpp"

int main(int argc, char** argv) { return tulle::bench::mpi_window_main(argc, argv, "openmpi"); }

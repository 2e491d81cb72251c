// SPDX-License-Identifier: Apache-2.0
// The same source, built with clang for its OpenMP run-time library.
#include "omp.cpp"

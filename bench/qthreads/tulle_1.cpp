// SPDX-License-Identifier: Apache-2.0
#include "shepherds.hpp"

int main(int argc, char** argv) { return tulle::bench::shepherds_main(argc, argv, 1); }

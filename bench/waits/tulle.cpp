// SPDX-License-Identifier: Apache-2.0
#include "waits.hpp"

int main(int argc, char** argv) { return tulle::bench::waits_main(argc, argv, "tulle"); }

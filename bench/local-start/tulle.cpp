// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tulle.hpp"
#include "local_start.hpp"

int main(int argc, char** argv) { return tulle::bench::local_start_main<tulle::bench::tulle_runtime>(argc, argv); }

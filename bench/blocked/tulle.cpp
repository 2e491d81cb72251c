// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tulle_blocking.hpp"
#include "blocked.hpp"

int main(int argc, char** argv) { return tulle::bench::blocked_main<tulle::bench::tulle_blocking_runtime>(argc, argv); }

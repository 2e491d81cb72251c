// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tulle_blocking.hpp"
#include "wake.hpp"

int main(int argc, char** argv) { return tulle::bench::wake_main<tulle::bench::tulle_blocking_runtime>(argc, argv); }

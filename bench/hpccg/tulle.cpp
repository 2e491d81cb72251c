// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tulle.hpp"
#include "hpccg.hpp"

int main(int argc, char** argv) { return tulle::bench::hpccg_main<tulle::bench::tulle_runtime>(argc, argv); }

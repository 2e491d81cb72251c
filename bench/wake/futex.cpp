// SPDX-License-Identifier: Apache-2.0
#include "wake.hpp"

int main(int argc, char** argv) { return tulle::bench::wake_main<tulle::bench::raw_futex>(argc, argv); }

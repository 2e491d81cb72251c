// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/serial.hpp"
#include "local_start.hpp"

int main(int argc, char** argv) { return tulle::bench::local_start_main<tulle::bench::serial_runtime>(argc, argv); }

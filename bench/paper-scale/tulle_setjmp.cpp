// SPDX-License-Identifier: Apache-2.0
#include "../common/paper.hpp"

int main(int argc, char** argv) { return tulle::bench::paper_scale_main<tulle::arch::setjmp_backend>(argc, argv, "tulle_setjmp"); }

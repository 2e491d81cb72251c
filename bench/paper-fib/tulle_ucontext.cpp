// SPDX-License-Identifier: Apache-2.0
#include "../common/paper.hpp"

int main(int argc, char** argv) { return tulle::bench::paper_fib_main<tulle::arch::ucontext_backend>(argc, argv, "tulle_ucontext"); }

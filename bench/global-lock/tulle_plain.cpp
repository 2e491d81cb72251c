// SPDX-License-Identifier: Apache-2.0
// global-lock: threads at all places lock a mutex, increment one counter and unlock, n times in all; ns for each, over the number of threads.
// Figure 5 of N. Ekström, "Improving DSZOOM's run time system", 2004. Here: asked for at its home each time.
#include "global_lock.hpp"

int main(int argc, char** argv) { return tulle::bench::global_lock_main(argc, argv, "tulle_plain", tulle::global_mutex::mode::plain); }

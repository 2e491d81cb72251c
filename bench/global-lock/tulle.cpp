// SPDX-License-Identifier: Apache-2.0
// global-lock: threads at all places lock a mutex, increment one counter and unlock, n times in
// all; ns for each, over the number of threads.
// Figure 5 of N. Ekström, "Improving DSZOOM's run time system", 2004. Here: the mutex as it is by
// default, which turns hierarchical.
#include "global_lock.hpp"

namespace tulle::bench {

benchmark const registered("global-lock", "tulle", [](int argc, char** argv) {
    return global_lock_main(argc, argv, "tulle", tulle::global_mutex::mode::contention_sensitive);
});

} // namespace tulle::bench

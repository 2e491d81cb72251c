// SPDX-License-Identifier: Apache-2.0
// mtbb::task_scheduler_init of MassiveThreads: chooses workers and stacks, and starts. For C++11
// and later.
#ifndef TULLE_COMPAT_MTBB_TASK_SCHEDULER_INIT_H
#define TULLE_COMPAT_MTBB_TASK_SCHEDULER_INIT_H

#include <cstddef>

#include <myth/myth.h>

namespace mtbb {

typedef std::size_t stack_size_type;

class task_scheduler_init {
public:
    static const int automatic = -1; // as the environment says
    static const int deferred = -2;  // not started before the first use

    explicit task_scheduler_init(int max_threads = automatic,
                                 stack_size_type thread_stack_size = 0) {
        if (thread_stack_size != 0) myth_globalattr_set_stacksize(nullptr, thread_stack_size);
        initialize(max_threads);
        if (max_threads != deferred) myth_init();
    }
    // Before the start.
    void initialize(int max_threads = automatic) {
        if (max_threads > 0)
            myth_globalattr_set_n_workers(nullptr, static_cast<std::size_t>(max_threads));
    }
    // The run time goes on.
    void terminate() {}
    static int default_num_threads() {
        std::size_t n = 0;
        myth_globalattr_get_n_workers(nullptr, &n);
        return static_cast<int>(n);
    }
    bool is_active() const { return true; }
};

} // namespace mtbb

#endif

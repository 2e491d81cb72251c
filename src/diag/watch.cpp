// SPDX-License-Identifier: Apache-2.0
#include "diag/watch.hpp"

#include "diag/report.hpp"
#include "os/thread.hpp"
#include "sched/scheduler.hpp"

#include <cstdlib>

#include <pthread.h>
#include <unistd.h>

namespace tulle::diag {

namespace {

void write_deadlock() noexcept { write_report(sched::scheduler::instance(), report_reason::deadlock, ::getpid(), STDERR_FILENO); }

// On a stack of its own: the finder may stand on a small one.
void* writer_main(void*) {
    write_deadlock();
    return nullptr;
}

void warn() noexcept {
    pthread_t writer{};
    if (os::start_thread(writer, "tulle-report", &writer_main, nullptr) == 0)
        pthread_join(writer, nullptr);
    else
        write_deadlock();
}

void end_program() noexcept {
    warn();
    std::abort();
}

} // namespace

void (*watch(deadlock_action action) noexcept)() noexcept {
    switch (action) {
        case deadlock_action::off: return nullptr;
        case deadlock_action::warn: return &warn;
        case deadlock_action::abort: break;
    }
    return &end_program;
}

} // namespace tulle::diag

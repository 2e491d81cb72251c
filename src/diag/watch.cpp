// SPDX-License-Identifier: Apache-2.0
#include "diag/watch.hpp"

#include "diag/answer.hpp"
#include "diag/circle_finder.hpp"
#include "diag/report.hpp"
#include "os/signal_handlers.hpp"
#include "os/thread.hpp"
#include "sched/scheduler.hpp"

#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <new>

#include <pthread.h>
#include <unistd.h>

namespace tulle::diag {

namespace {

using sched::standstill;

// The signals whose handlers may wake a thread: not our own.
std::uint64_t foreign_signals() noexcept {
    std::uint64_t const handled = os::handled_signals();
    return answers_requests() ? handled & ~os::signal_bit(SIGQUIT) : handled;
}

// Never destroyed: workers may outlive static objects. Searches are made one at a time.
circle_finder& circles() noexcept {
    alignas(circle_finder) static std::byte s_storage[sizeof(circle_finder)];
    static auto* const made = ::new (static_cast<void*>(s_storage)) circle_finder;
    return *made;
}

void write_finding(standstill found) noexcept {
    report_reason const why{false, found, foreign_signals(),
                            found == standstill::circle ? &circles() : nullptr};
    write_report(sched::scheduler::instance(), why, ::getpid(), STDERR_FILENO);
}

// It runs on a stack of its own: the finder may stand on a small one.
void* writer_main(void* found) {
    os::set_name("tulle-report");
    write_finding(*static_cast<standstill*>(found));
    return nullptr;
}

void warn(standstill found) noexcept {
    pthread_t writer{};
    if (os::start_thread(writer, &writer_main, &found) == 0)
        pthread_join(writer, nullptr);
    else
        write_finding(found);
}

// What is stuck for good ends the program; elsewhere something may still happen.
void end_program(standstill found) noexcept {
    warn(found);
    if (found == standstill::deadlock || found == standstill::no_stack) std::abort();
}

} // namespace

void (*watch(deadlock_action action) noexcept)(standstill found) noexcept {
    static_cast<void>(circles()); // made before a worker asks, during which others may fork
    switch (action) {
        case deadlock_action::off: return nullptr;
        case deadlock_action::warn: return &warn;
        case deadlock_action::abort: break;
    }
    return &end_program;
}

bool awaits_signal() noexcept { return foreign_signals() != 0; }

sched::circle_search find_circle() noexcept {
    return circles().search(sched::scheduler::instance());
}

} // namespace tulle::diag

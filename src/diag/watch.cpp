// SPDX-License-Identifier: Apache-2.0
#include "diag/watch.hpp"

#include "diag/answer.hpp"
#include "diag/circle_finder.hpp"
#include "diag/process_copy.hpp"
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

struct finding {
    report_reason why;
    int process;
};

finding about(standstill found, bool goes_on) noexcept {
    return {{.found = found,
             .signals = foreign_signals(),
             .circles = found == standstill::circle ? &circles() : nullptr,
             .goes_on = goes_on},
            ::getpid()};
}

void write_finding(finding const& about) noexcept {
    write_report(sched::scheduler::instance(), about.why, about.process, STDERR_FILENO);
}

// Called in the copy.
void write_copied_finding(void* copied) {
    auto& about = *static_cast<finding*>(copied);
    about.why.is_in_copy = true;
    close_all_but(STDERR_FILENO);
    write_finding(about);
}

// It runs on a stack of its own: the finder may stand on a small one.
void* writer_main(void* found) {
    os::set_name("tulle-report");
    write_finding(*static_cast<finding*>(found));
    return nullptr;
}

// Others go on, or may do so at any time: they are not held up, and what they have may be gone
// while it is read.
bool may_go_on(standstill found) noexcept {
    return found == standstill::circle || found == standstill::awaits_signal;
}

void tell(finding it) noexcept {
    if (may_go_on(it.why.found) && write_in_copy(&write_copied_finding, &it)) return;
    pthread_t writer{};
    if (os::with_signals_blocked([&] { return os::start_thread(writer, &writer_main, &it); }) == 0)
        pthread_join(writer, nullptr);
    else
        write_finding(it);
}

void warn(standstill found) noexcept { tell(about(found, !may_go_on(found))); }

// What is stuck for good ends the program; elsewhere something may still happen.
void end_program(standstill found) noexcept {
    tell(about(found, false));
    if (!may_go_on(found)) std::abort();
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

// SPDX-License-Identifier: Apache-2.0
#include "diag/explain_report.hpp"

#include "diag/text_output.hpp"
#include "os/clock.hpp"
#include "os/task_state.hpp"

#include <array>
#include <atomic>
#include <cinttypes>
#include <cstddef>
#include <cstdio>

#include <unistd.h>

namespace tulle::diag {

namespace {

constexpr std::array k_reasons{
    "they bring memory for their stacks",
    "they ask for stacks of more than 1 GiB",
    "they ask for larger guards of their stacks",
    "they are to run on some processors only",
    "they ask for a policy of scheduling",
    "they wait by system calls of their own",
    "the run time does not run here",
};
std::array<std::atomic<std::uint64_t>, k_reasons.size()> s_os_threads{};

constexpr double k_ns_per_ms = 1e6;

void print_row(text_output& out, sched::stuck_times const& t, char const* what) noexcept {
    out.print("%12" PRIu64 " %12.1f %12.1f  %s\n", t.times,
              static_cast<double>(t.total_ns) / k_ns_per_ms,
              static_cast<double>(t.longest_ns) / k_ns_per_ms, what);
}

void print_call(text_output& out, int call, sched::stuck_times const& t) noexcept {
    std::array<char, 64> text{};
    char const* const name = os::name_of_call(call);
    if (name != nullptr)
        std::snprintf(text.data(), text.size(), "in %s", name);
    else if (call >= 0)
        std::snprintf(text.data(), text.size(), "in system call %d", call);
    else
        std::snprintf(text.data(), text.size(), "in a call that the system does not tell");
    print_row(out, t, text.data());
}

bool print_calls(text_output& out, sched::stuck_log const& log) noexcept {
    std::uint64_t const now = os::monotonic_ns();
    bool any = false;
    log.each_call(now, [&](int call, sched::stuck_times const& t) {
        print_call(out, call, t);
        any = true;
    });
    sched::stuck_times const computing = log.computing(now);
    if (computing.times != 0) print_row(out, computing, "computing, without a wait");
    return any || computing.times != 0;
}

// relaxed: counts.
void print_os_threads(text_output& out) noexcept {
    for (std::size_t k = 0; k < k_reasons.size(); ++k)
        if (std::uint64_t const n = s_os_threads[k].load(std::memory_order_relaxed); n != 0)
            out.print("threads that are OS threads: %" PRIu64 ", as %s\n", n, k_reasons[k]);
}

} // namespace

void note_os_thread(os_thread_reason why) noexcept {
    s_os_threads[static_cast<std::size_t>(why)].fetch_add(1, std::memory_order_relaxed); // a count
}

void explain(sched::watcher const& seen) noexcept {
    text_output out(STDERR_FILENO);
    out.print(
        "tulle: what kept workers from their threads, for 1 ms or more in the kernel or 10 ms "
        "computing (process %d)\n%12s %12s %12s\n",
        ::getpid(), "times", "ms", "longest");
    if (!print_calls(out, seen.stuck()))
        out.print("%s\n", seen.tid() != 0 || seen.has_watched()
                              ? "nothing"
                              : "not known: the option max_substitutes is off, so nobody looks");
    if (std::uint64_t const n = seen.view().substituted; n != 0)
        out.print("%" PRIu64 " times another worker came in\n", n);
    print_os_threads(out);
}

} // namespace tulle::diag

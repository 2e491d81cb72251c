// SPDX-License-Identifier: Apache-2.0
// Says in text which threads there are, what each waits for, where it was spawned and which calls
// are on its stack. Threads that are alike are one paragraph. Threads that wait for each other in a
// circle come first, where it is known which thread holds what.
// Takes no lock for long and no memory of the C library's heap, so it may be written by a copy of
// the process (answer.cpp).
#pragma once

#include <cstdint>

namespace tulle::sched {
class scheduler;
enum class standstill : std::uint8_t;
} // namespace tulle::sched

namespace tulle::diag {

class circle_finder;

struct report_reason {
    bool is_request = false; // somebody has asked; else:
    sched::standstill found{};
    // With awaits_signal: the signals that the program handles, as os::handled_signals has them.
    std::uint64_t signals = 0;
    circle_finder const* circles = nullptr; // of a circle: only the threads in it are told of
    bool is_in_copy = false;                // of the process; always, if somebody has asked
    bool goes_on = false;                   // the process, though it is stuck for good
};

// About the process with this number, to a descriptor.
void write_report(sched::scheduler& scheduler, report_reason const& why, int process,
                  int output) noexcept;

} // namespace tulle::diag

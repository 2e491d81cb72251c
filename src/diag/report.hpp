// SPDX-License-Identifier: Apache-2.0
// Says in text which threads there are, what each waits for, where it was spawned and where it stands. Threads that look alike are one
// paragraph. Threads that wait for each other in a circle come first, where it is known who holds what.
// Takes no lock for long and no memory of the C library's heap, so it may be written by a copy of the process (report_request.cpp).
#pragma once

#include <cstddef>

namespace tulle::sched {
class scheduler;
}

namespace tulle::diag {

enum class report_reason { deadlock, request };

// About the process with this number, to a descriptor.
void write_report(sched::scheduler& of, report_reason why, int process, int output) noexcept;

} // namespace tulle::diag

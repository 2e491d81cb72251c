// SPDX-License-Identifier: Apache-2.0
// What starts with the run time and stops with it: a list, started in its order and stopped in the
// reverse one. A service that does not start stops those before it, and is named in the error.
#pragma once

#include "base/option.hpp"
#include "runtime/cpu_share.hpp"
#include "sched/scheduler.hpp"

#include <span>

namespace tulle::runtime {

// What the services are started with. The options are those of this start.
struct launch {
    base::option_table const& options;
    sched::settings const& chosen;
    cpu_share& cpus;
};

struct service {
    char const* name; // as it stands behind "cannot start"
    // 0 or a positive errno; may throw std::bad_alloc; null: its first use starts it.
    int (*start)(launch const&);
    void (*stop)(launch const&) noexcept; // undoes what start has done; null: nothing is to be done
};

struct start_result {
    int error = 0;                // a positive errno
    char const* failed = nullptr; // the service that has not started, if it was one
};

[[nodiscard]] start_result start_all(std::span<service const> list, launch const& with) noexcept;
void stop_all(std::span<service const> list, launch const& with) noexcept;

// The services of the run time.
[[nodiscard]] std::span<service const> services() noexcept;

} // namespace tulle::runtime

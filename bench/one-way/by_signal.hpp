// SPDX-License-Identifier: Apache-2.0
// By i-lets of the C interface, whose end is a signal.
#pragma once

#include "one_way.hpp"

#include <tulle.h>

namespace tulle::bench {

inline void run_ilet(std::uint64_t signal, std::uint64_t /*unused*/) {
    note_begin();
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of place 0
    tulle_signal_notify_at(0, reinterpret_cast<tulle_signal_t*>(signal));
}

struct by_signal {
    [[nodiscard]] static start_times start(int place) {
        start_times times;
        tulle_signal_t signal;
        tulle_signal_init(&signal, 1);
        times.before = cycles();
        tulle_start_at(place, {&run_ilet, reinterpret_cast<std::uintptr_t>(&signal), 0});
        times.behind = cycles();
        tulle_signal_wait(&signal);
        times.end = cycles();
        tulle_signal_destroy(&signal);
        return times;
    }
};

} // namespace tulle::bench

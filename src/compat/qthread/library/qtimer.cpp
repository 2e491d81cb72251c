// SPDX-License-Identifier: Apache-2.0
// The system's monotonic clock. What is no timer is left alone, and says 0.
#include "compat/qthread/library/arguments.hpp"

#include <qthread/hash.h>
#include <qthread/qtimer.h>

#include <atomic>
#include <ctime>
#include <new>

struct qtimer_s {
    double start = 0, stop = 0;
};

using tulle::compat::is_object;

namespace {

double seconds(timespec const& t) {
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

std::atomic<unsigned long> s_draws{0};

} // namespace

unsigned long qtimer_fastrand() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    // relaxed: only to be different from other calls at the same time.
    return qt_hash64(static_cast<uint64_t>(now.tv_nsec) ^
                     (s_draws.fetch_add(1, std::memory_order_relaxed) << 32U));
}

double qtimer_wtime() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return seconds(now);
}

double qtimer_res() {
    timespec step{};
    ::clock_getres(CLOCK_MONOTONIC, &step);
    return seconds(step);
}

qtimer_t qtimer_create() { return new (std::nothrow) qtimer_s; }
void qtimer_destroy(qtimer_t timer) {
    if (is_object(timer)) delete timer;
}
void qtimer_start(qtimer_t timer) {
    if (is_object(timer)) timer->start = qtimer_wtime();
}
void qtimer_stop(qtimer_t timer) {
    if (is_object(timer)) timer->stop = qtimer_wtime();
}
double qtimer_secs(qtimer_t timer) { return is_object(timer) ? timer->stop - timer->start : 0; }

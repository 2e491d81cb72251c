// SPDX-License-Identifier: Apache-2.0
// How long the process has computed.
#pragma once

#include <sys/resource.h>

namespace tulle::bench {

// Of all its threads, in the kernel as well.
inline double processor_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    auto const of = [](timeval const& t) { return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec); };
    return of(usage.ru_utime) + of(usage.ru_stime);
}

} // namespace tulle::bench

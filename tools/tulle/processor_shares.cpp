// SPDX-License-Identifier: Apache-2.0
#include "processor_shares.hpp"

#include "options.hpp"

#include "base/option.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <sched.h>

namespace tulle::tool {

namespace {

std::vector<int> allowed_processors() {
    std::vector<int> all;
    cpu_set_t allowed;
    // More than it has bits for: each place searches for itself.
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return {};
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(cpu, &allowed)) all.push_back(cpu);
    return all;
}

} // namespace

// A processor that is kept for messages is the same one at all places, and counted among all: then
// nobody is bound. Nor where places share with other programs, which bind them.
processor_shares::processor_shares(unsigned places, bool may_bind)
    : m_places(places), m_allowed(allowed_processors()) {
    bool const keeps_one = read_options().number(base::option_id::reserve_cpu) != 0;
    bool const shares = read_options().number(base::option_id::share_cpus) != 0;
    unsigned const each = (count() - (keeps_one ? 1U : 0U)) / places;
    setenv("TULLE_WORKERS", std::to_string(std::max(each, 1U)).c_str(), 0);
    std::uint64_t const workers = read_options().number(base::option_id::workers);
    m_binds = may_bind && !keeps_one && !shares && places > 1 && workers * places <= count();
}

void processor_shares::take(unsigned place) const noexcept {
    if (!m_binds || place >= m_places) return;
    cpu_set_t own;
    CPU_ZERO(&own);
    for (unsigned k = place * count() / m_places; k < (place + 1) * count() / m_places; ++k)
        CPU_SET(m_allowed[k], &own);
    sched_setaffinity(0, sizeof own, &own);
}

} // namespace tulle::tool

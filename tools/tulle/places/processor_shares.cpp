// SPDX-License-Identifier: Apache-2.0
#include "places/processor_shares.hpp"

#include "options.hpp"

#include "base/option.hpp"
#include "os/thread.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include <pthread.h>

namespace tulle::tool {

namespace {

unsigned memory_places_of(unsigned places) {
    return static_cast<unsigned>(
        std::min<std::uint64_t>(read_options().number(base::option_id::memory_places), places - 1));
}

} // namespace

// A processor that is kept for messages is the same one at all places, and counted among all: then
// nobody is bound. Nor where places share with other programs, which bind them.
processor_shares::processor_shares(unsigned places, bool may_bind)
    : m_places(places - memory_places_of(places)), m_allowed(os::affinity_of(0)) {
    if (m_allowed.empty()) return; // not known: each place searches for itself
    bool const keeps_one = read_options().number(base::option_id::reserve_cpu) != 0;
    bool const shares = read_options().number(base::option_id::share_cpus) != 0;
    std::uint64_t const most = read_options().number(base::option_id::max_workers);
    std::uint64_t const share = std::max((count() - (keeps_one ? 1U : 0U)) / m_places, 1U);
    std::uint64_t const each = most != 0 ? std::min(share, most) : share;
    setenv("TULLE_WORKERS", std::to_string(each).c_str(), 0);
    std::uint64_t const asked = read_options().number(base::option_id::workers);
    std::uint64_t const workers = asked != 0 ? asked : count(); // 0: one for each that it may use
    m_binds = may_bind && !keeps_one && !shares && m_places > 1 && workers * m_places <= count();
}

void processor_shares::take(unsigned place) const noexcept {
    if (!m_binds || place >= m_places) return;
    unsigned const first = place * count() / m_places;
    unsigned const next = (place + 1) * count() / m_places;
    static_cast<void>(
        os::pin_to(pthread_self(), std::span(m_allowed).subspan(first, next - first)));
}

} // namespace tulle::tool

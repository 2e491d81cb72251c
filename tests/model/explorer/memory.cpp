// SPDX-License-Identifier: Apache-2.0
#include "memory.hpp"

namespace tulle::model {

namespace {
// Of one load; more stores than that are never outdated at once in a small test.
constexpr std::size_t k_max_alternatives = 30;
} // namespace

void memory::reset(unsigned stale_repeats) {
    m_stale_repeats = stale_repeats;
    m_used = 0;
    m_threads.fill({});
    m_global = {};
}

location_index memory::create(thread_index t, std::uint64_t initial) {
    if (m_used == k_max_locations) return k_no_location;
    if (m_used == m_locations.size()) m_locations.emplace_back();
    location& fresh = m_locations[m_used];
    fresh.stores.clear();
    fresh.stores.push_back({initial, {}});
    fresh.created = next_event(t);
    fresh.touched = {};
    fresh.is_destroyed = false;
    fresh.outdated.fill({});
    return static_cast<location_index>(m_used++);
}

bool memory::is_constructed(thread_index t, location_index l) const noexcept {
    return m_threads[t].current.happened.covers(m_locations[l].created);
}

bool memory::is_quiet(thread_index t, location_index l) const noexcept {
    return m_threads[t].current.happened.covers(m_locations[l].touched);
}

event memory::next_event(thread_index t) noexcept {
    return {t, ++m_threads[t].current.happened.newest[t]};
}

event memory::begin(thread_index t, location_index l) noexcept {
    event const now = next_event(t);
    m_locations[l].touched.newest[t] = now.when;
    return now;
}

stamp memory::oldest_readable(thread_index t, location_index l, memory_order o) const noexcept {
    location const& place = m_locations[l];
    stamp oldest = m_threads[t].current.seen[l];
    if (o == std::memory_order_seq_cst) oldest = std::max(oldest, m_global.seen[l]);
    repeated const& last = place.outdated[t];
    stamp const newest = newest_stamp(place);
    bool const enough = last.times >= m_stale_repeats && last.which == oldest && oldest < newest;
    return enough ? static_cast<stamp>(oldest + 1) : oldest;
}

std::uint64_t memory::read(thread_index t, location_index l, stamp s, memory_order o) noexcept {
    location& place = m_locations[l];
    thread_views& me = m_threads[t];
    if (s != newest_stamp(place)) {
        repeated& last = place.outdated[t];
        last = {s, last.which == s ? last.times + 1 : 1};
    }
    me.current.seen[l] = std::max(me.current.seen[l], s);
    (is_acquire(o) ? me.current : me.pending).join(place.stores[s].released);
    if (o == std::memory_order_seq_cst) m_global.seen[l] = std::max(m_global.seen[l], s);
    return place.stores[s].value;
}

void memory::append(thread_index t, location_index l, stored const& s, memory_order o) {
    location& place = m_locations[l];
    place.stores.push_back(s);
    m_threads[t].current.seen[l] = newest_stamp(place);
    if (o == std::memory_order_seq_cst) m_global.seen[l] = newest_stamp(place);
}

std::uint64_t memory::load(thread_index t, location_index l, memory_order o) {
    begin(t, l);
    stamp const newest = newest_stamp(m_locations[l]);
    std::size_t const readable = std::size_t{newest} - oldest_readable(t, l, o) + 1;
    std::size_t const age = m_decide.choose_value(std::min(readable, k_max_alternatives));
    return read(t, l, static_cast<stamp>(newest - age), o);
}

void memory::store(thread_index t, location_index l, std::uint64_t value, memory_order o) {
    begin(t, l);
    thread_views const& me = m_threads[t];
    append(t, l, {value, is_release(o) ? me.current : me.fenced}, o);
}

void memory::finish_rmw(thread_index t, location_index l, std::uint64_t value, memory_order o) {
    begin(t, l);
    location const& place = m_locations[l];
    view handed_on = place.stores.back().released; // the release sequence goes on
    read(t, l, newest_stamp(place), o);
    thread_views const& me = m_threads[t];
    handed_on.join(is_release(o) ? me.current : me.fenced);
    append(t, l, {value, handed_on}, o);
}

memory::exchanged memory::compare_exchange(thread_index t, location_index l,
                                           exchange_request const& request) {
    location const& place = m_locations[l];
    stamp const newest = newest_stamp(place);
    // Alternatives: the newest store; then, as a failure, each outdated one that does not match;
    // then a spurious failure.
    std::array<stamp, k_max_alternatives> candidates{newest};
    std::size_t count = 1;
    for (stamp s = oldest_readable(t, l, request.failure);
         s < newest && count < candidates.size() - 1; ++s) {
        if (place.stores[s].value != request.expected) candidates[count++] = s;
    }
    bool const matches = place.stores[newest].value == request.expected;
    bool const spurious = matches && request.may_fail;
    if (spurious) candidates[count++] = newest;
    std::size_t const chosen = m_decide.choose_value(count);
    if (chosen == 0 && matches) {
        finish_rmw(t, l, request.desired, request.success);
        return {true, request.expected};
    }
    begin(t, l);
    return {false, read(t, l, candidates[chosen], request.failure)};
}

void memory::fence(thread_index t, memory_order o) noexcept {
    next_event(t);
    thread_views& me = m_threads[t];
    if (is_acquire(o)) me.current.join(me.pending);
    if (o == std::memory_order_seq_cst) order_globally(t);
    if (is_release(o)) me.fenced = me.current;
}

void memory::interrupt(thread_index sender, thread_index target, view const& sent) noexcept {
    m_threads[target].current.join(sent);
    fence(target, std::memory_order_seq_cst);
    m_threads[sender].current.join(m_threads[target].current);
}

void memory::order_globally(thread_index t) noexcept {
    view& mine = m_threads[t].current;
    join_arrays(mine.seen, m_global.seen);
    m_global.seen = mine.seen;
}

bool memory::plain_read(thread_index t, access_record& a) noexcept {
    a.read.newest[t] = next_event(t).when;
    return m_threads[t].current.happened.covers(a.written);
}

bool memory::plain_write(thread_index t, access_record& a) noexcept {
    event const now = next_event(t);
    vector_clock const& happened = m_threads[t].current.happened;
    bool const ordered = happened.covers(a.written) && happened.covers(a.read);
    a.written = now;
    return ordered;
}

} // namespace tulle::model

// SPDX-License-Identifier: Apache-2.0
#include "races/happens_before.hpp"

#include "races/sites.hpp"

#include <algorithm>

namespace tulle::races {

namespace {

constexpr unsigned k_slot_bits = 17;
constexpr std::size_t k_slots = std::size_t{1} << k_slot_bits;
constexpr std::size_t k_tries = 32; // for a slot that nobody has
constexpr std::size_t k_line = 64;

constexpr std::size_t lines(std::size_t bytes) noexcept {
    return (bytes + k_line - 1) / k_line * k_line;
}
constexpr std::size_t bytes_of_clock(process_number processes) noexcept {
    return lines(processes * sizeof(epoch));
}

bool acquires(int order) noexcept { return order != __ATOMIC_RELAXED && order != __ATOMIC_RELEASE; }
bool releases(int order) noexcept {
    return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

} // namespace

void join(vector_clock into, std::span<epoch const> more) noexcept {
    for (std::size_t k = 0; k < into.size(); ++k) into[k] = std::max(into[k], more[k]);
}

std::size_t happens_before::bytes(process_number processes) noexcept {
    std::size_t const clock = bytes_of_clock(processes);
    return processes * k_parts * clock + k_slots * (k_line + clock);
}

happens_before::happens_before(std::byte* zeros, process_number processes) noexcept
    : m_memory(zeros), m_processes(processes) {}

vector_clock happens_before::clock(process_number p, part which) const noexcept {
    std::size_t const index = p * k_parts + static_cast<std::size_t>(which);
    auto* const first = reinterpret_cast<epoch*>(m_memory + index * bytes_of_clock(m_processes));
    return {first, m_processes};
}

happens_before::slot_head& happens_before::head(std::size_t slot) const noexcept {
    static_assert(sizeof(slot_head) <= k_line);
    std::size_t const clock = bytes_of_clock(m_processes);
    std::byte* const slots = m_memory + m_processes * k_parts * clock;
    return *reinterpret_cast<slot_head*>(slots + slot * (k_line + clock));
}

vector_clock happens_before::clock_of(std::size_t slot) const noexcept {
    auto* const behind = reinterpret_cast<std::byte*>(&head(slot)) + k_line;
    return {reinterpret_cast<epoch*>(behind), m_processes};
}

// relaxed: the lock of the slot guards what belongs to the key.
happens_before::slot_of_key happens_before::find(object_key object) const noexcept {
    std::size_t const from = scatter(object) >> (64 - k_slot_bits);
    for (std::size_t k = 0; k < k_tries; ++k) {
        std::size_t const at = (from + k) % k_slots;
        object_key there = head(at).owner.load(std::memory_order_relaxed);
        if (there == 0)
            head(at).owner.compare_exchange_strong(there, object, std::memory_order_relaxed);
        if (there == 0 || there == object) return {at, true};
    }
    return {from, false};
}

void happens_before::put(slot_of_key const& found, std::span<epoch const> value,
                         bool replaces) const noexcept {
    vector_clock const there = clock_of(found.slot);
    if (replaces && found.is_own)
        std::copy(value.begin(), value.end(), there.begin());
    else
        join(there, value);
}

// At the last epoch time stands still: what comes later is taken for ordered where it is not.
void happens_before::tick(process_number p) const noexcept {
    epoch& own = clock(p, part::now)[p];
    if (own < k_last_epoch) ++own;
}

void happens_before::begin(process_number p) noexcept {
    vector_clock const now = clock(p, part::now);
    epoch const own = now[p];
    for (part const each : {part::now, part::fenced, part::found})
        std::fill(clock(p, each).begin(), clock(p, each).end(), 0);
    now[p] = own;
    tick(p);
}

void happens_before::acquire(object_key object, process_number p) noexcept {
    slot_of_key const found = find(object);
    std::lock_guard const held(lock_of(found.slot));
    join(clock(p, part::now), clock_of(found.slot));
}
void happens_before::release(object_key object, process_number p) noexcept {
    slot_of_key const found = find(object);
    std::lock_guard const held(lock_of(found.slot));
    put(found, clock(p, part::now), false);
    tick(p);
}
void happens_before::replace(object_key object, process_number p) noexcept {
    slot_of_key const found = find(object);
    std::lock_guard const held(lock_of(found.slot));
    put(found, clock(p, part::now), true);
    tick(p);
}
void happens_before::hand(process_number from, process_number to) noexcept {
    join(clock(to, part::now), clock(from, part::now));
    tick(from);
}

void happens_before::acquire_fence(process_number p) noexcept {
    join(clock(p, part::now), clock(p, part::found));
}
void happens_before::release_fence(process_number p) noexcept {
    vector_clock const now = clock(p, part::now);
    std::copy(now.begin(), now.end(), clock(p, part::fenced).begin());
    tick(p);
}

void happens_before::store_atomically(slot_of_key const& found, process_number p,
                                      atomic_access how) const noexcept {
    bool const is_release = releases(how.order);
    put(found, clock(p, is_release ? part::now : part::fenced), how.replaces);
    if (is_release) tick(p);
}
void happens_before::load_atomically(slot_of_key const& found, process_number p,
                                     atomic_access how) const noexcept {
    join(clock(p, acquires(how.order) ? part::now : part::found), clock_of(found.slot));
}

} // namespace tulle::races

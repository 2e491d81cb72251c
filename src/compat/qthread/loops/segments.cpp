// SPDX-License-Identifier: Apache-2.0
#include "compat/qthread/loops/segments.hpp"

#include "compat/qthread/library/places.hpp"

#include <qthread/qtimer.h>

#include <sys/mman.h>

#include <array>
#include <cstdint>
#include <limits>

namespace tulle::compat {

namespace {

// How many segments of all arrays each shepherd has.
std::array<std::atomic<std::size_t>,
           std::size_t{std::numeric_limits<qthread_shepherd_id_t>::max()} + 1>
    s_segments{};

// relaxed: only a guide to even distribution.
void note_segments(qthread_shepherd_id_t shepherd, std::size_t change) noexcept {
    s_segments[shepherd].fetch_add(change, std::memory_order_relaxed);
}

std::size_t shepherd_count() noexcept { return std::max<std::size_t>(count_shepherds(), 1); }

qthread_shepherd_id_t as_shepherd(std::size_t k) noexcept {
    return static_cast<qthread_shepherd_id_t>(k);
}

qthread_shepherd_id_t any_shepherd() noexcept { return active_shepherds()[qtimer_fastrand()]; }

qthread_shepherd_id_t shepherd_with_least() noexcept {
    // relaxed: see note_segments
    auto const count = [](qthread_shepherd_id_t s) {
        return s_segments[s].load(std::memory_order_relaxed);
    };
    active_shepherds const shepherds;
    qthread_shepherd_id_t least = shepherds[0];
    for (std::size_t k = 1, end = count_active_shepherds(); k < end; ++k)
        if (count(shepherds[k]) < count(least)) least = shepherds[k];
    return least;
}

qthread_shepherd_id_t own_shepherd() noexcept {
    qthread_shepherd_id_t const here = qthread_shep();
    return here == NO_SHEPHERD ? qthread_shepherd_id_t{0} : here;
}

// The shepherd of a segment when each has a row of neighbours: `each` segments, and the first
// `extras` one more.
qthread_shepherd_id_t row_owner(std::size_t segment, std::size_t each,
                                std::size_t extras) noexcept {
    std::size_t const in_larger = extras * (each + 1);
    return as_shepherd(segment < in_larger ? segment / (each + 1)
                                           : extras + (segment - in_larger) / each);
}

} // namespace

segmented_array::~segmented_array() {
    if (is_counted) count_all(std::size_t{0} - 1);
    if (base_ptr != nullptr) ::munmap(base_ptr, bytes());
}

qthread_shepherd_id_t segmented_array::owner(std::size_t segment) const noexcept {
    switch (dist_type) {
        case ALL_SAME: return dist_specific.dist_shep;
        case FIXED_FIELDS:
            return row_owner(segment, dist_specific.stripes.segs_per_shep,
                             dist_specific.stripes.extras);
        // relaxed: where it runs does not change what it computes
        case DIST: return owners[segment].load(std::memory_order_relaxed);
        default: return as_shepherd(segment % shepherds);
    }
}

void segmented_array::give(std::size_t segment, qthread_shepherd_id_t shepherd) noexcept {
    note_segments(shepherd, 1);
    // relaxed: see owner
    note_segments(owners[segment].exchange(shepherd, std::memory_order_relaxed),
                  std::size_t{0} - 1);
}

void segmented_array::give_all(qthread_shepherd_id_t shepherd) noexcept {
    note_segments(shepherd, segments);
    note_segments(dist_specific.dist_shep, std::size_t{0} - segments);
    dist_specific.dist_shep = shepherd;
}

void segmented_array::choose_owners(distribution_t how) {
    shepherds = shepherd_count();
    switch (how) {
        case ALL_SAME:
        case ALL_LOCAL: dist_specific.dist_shep = own_shepherd(); break;
        case ALL_RAND: dist_specific.dist_shep = any_shepherd(); break;
        case ALL_LEAST: dist_specific.dist_shep = shepherd_with_least(); break;
        case FIXED_HASH: dist_specific.dist_shep = NO_SHEPHERD; break;
        case FIXED_FIELDS:
            dist_specific.stripes = {segments / shepherds, segments % shepherds};
            break;
        default:
            choose_each(how);
            is_counted = true;
            return;
    }
    count_all(1);
    is_counted = true;
}

// Each is counted at once, so that the next one sees it.
void segmented_array::choose_each(distribution_t how) {
    dist_specific.dist_shep = NO_SHEPHERD;
    owners.reset(new std::atomic<qthread_shepherd_id_t>[segments]);
    for (std::size_t k = 0; k != segments; ++k) {
        qthread_shepherd_id_t to = 0;
        if (how == DIST_STRIPES) {
            to = as_shepherd(k % shepherds);
        } else if (how == DIST_FIELDS) {
            to = row_owner(k, segments / shepherds, segments % shepherds);
        } else {
            to = how == DIST_LEAST ? shepherd_with_least() : any_shepherd();
        }
        owners[k].store(to, std::memory_order_relaxed); // relaxed: nobody else has the array yet
        note_segments(to, 1);
    }
}

void segmented_array::count_all(std::size_t change) const noexcept {
    for (std::size_t k = 0; k != segments; ++k) note_segments(owner(k), change);
}

} // namespace tulle::compat

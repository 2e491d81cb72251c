// SPDX-License-Identifier: Apache-2.0
// Making arrays, and to whom their segments belong (segments.hpp). Pages are of the system's, so
// memory is where it is first used.
#include "compat/qthread/library/arguments.hpp"
#include "compat/qthread/library/places.hpp"
#include "compat/qthread/loops/segments.hpp"

#include <qthread/qarray.h>

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <limits>
#include <memory>
#include <new>

namespace {

using namespace tulle::compat;

constexpr std::size_t k_usual_pages = 16;

distribution_t kind_of(distribution_t d) {
    switch (d) {
        case FIXED_FIELDS: return FIXED_FIELDS;
        case ALL_SAME:
        case ALL_LOCAL:
        case ALL_RAND:
        case ALL_LEAST: return ALL_SAME;
        case DIST:
        case DIST_STRIPES:
        case DIST_FIELDS:
        case DIST_RAND:
        case DIST_LEAST: return DIST;
        default: return FIXED_HASH;
    }
}

// False: a unit does not fit, or all is too large.
bool choose_sizes(segmented_array& a, int seg_pages) {
    constexpr std::size_t k_most = std::numeric_limits<std::size_t>::max() / 4;
    auto const page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    if (a.unit_size > k_most) return false;
    a.segment_bytes = (seg_pages > 0 ? static_cast<std::size_t>(seg_pages) : k_usual_pages) * page;
    if (a.unit_size > a.segment_bytes) {
        if (seg_pages > 0) return false;
        a.segment_bytes = (a.unit_size + page - 1) / page * page;
    }
    a.segment_size = a.segment_bytes / a.unit_size;
    a.segments = a.count / a.segment_size + (a.count % a.segment_size != 0 ? 1 : 0);
    return a.segments <= k_most / a.segment_bytes;
}

bool map_memory(segmented_array& a) {
    void* const p = ::mmap(nullptr, a.bytes(), PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) return false;
    a.base_ptr = static_cast<char*>(p);
    return true;
}

} // namespace

qarray* qarray_create(size_t const count, size_t const unit_size) {
    return qarray_create_configured(count, unit_size, FIXED_HASH, 0, 0);
}
qarray* qarray_create_tight(size_t const count, size_t const unit_size) {
    return qarray_create_configured(count, unit_size, FIXED_HASH, 1, 0);
}

qarray* qarray_create_configured(size_t const count, size_t const unit_size, distribution_t const d,
                                 char const tight, int const seg_pages) try {
    constexpr std::size_t k_word = 8;
    if (count == 0 || unit_size == 0 ||
        unit_size > std::numeric_limits<std::size_t>::max() - k_word)
        return nullptr;
    auto a = std::make_unique<segmented_array>();
    a->count = count;
    a->unit_size = tight != 0 ? unit_size : (unit_size + k_word - 1) / k_word * k_word;
    a->dist_type = kind_of(d);
    if (!choose_sizes(*a, seg_pages)) return nullptr;
    if (!map_memory(*a)) return nullptr; // first: for how many segments owners are chosen
    a->choose_owners(d);
    return a.release();
} catch (std::bad_alloc const&) {
    return nullptr;
}

void qarray_destroy(qarray* a) {
    if (is_object(a)) delete &as_segmented(a);
}

qthread_shepherd_id_t qarray_shepof(qarray const* a, size_t const index) {
    if (!is_object(a) || index >= a->count) return NO_SHEPHERD;
    return as_segmented(a).owner(as_segmented(a).segment_of(index));
}

void qarray_set_shepof(qarray* a, size_t const i, qthread_shepherd_id_t shep) {
    if (!is_object(a) || i >= a->count || shep >= count_shepherds()) return;
    if (a->dist_type == DIST) as_segmented(a).give(as_segmented(a).segment_of(i), shep);
    if (a->dist_type == ALL_SAME) as_segmented(a).give_all(shep);
}

void qarray_dist_like(qarray const* ref, qarray* mod) {
    if (!is_object(ref) || !is_object(mod)) return;
    if (mod->dist_type == ALL_SAME) return qarray_set_shepof(mod, 0, qarray_shepof(ref, 0));
    if (mod->dist_type != DIST) return;
    for (std::size_t i = 0; i < mod->count && i < ref->count; i += mod->segment_size)
        qarray_set_shepof(mod, i, qarray_shepof(ref, i));
}

void* qarray_elem_migrate(qarray const* a, size_t const index) {
    if (!is_object(a)) return nullptr;
    void* const unit = qarray_elem_nomigrate(a, index);
    if (unit == nullptr) return nullptr;
    qthread_shepherd_id_t const there = qarray_shepof(a, index);
    if (qthread_shep() != there) qthread_migrate_to(there);
    return unit;
}

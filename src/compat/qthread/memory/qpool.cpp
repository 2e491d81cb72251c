// SPDX-License-Identifier: Apache-2.0
// Pieces lie in slabs, which are freed with the pool. Free ones are on lists: each shepherd has
// some with a lock each, of which an OS thread uses always the same, and bundles that these
// exchange. So memory stays with the shepherd that has first used it (where the system places pages
// at the first touch, on its NUMA node); the bundles of others are taken only before a new slab
// would be made.
// Source: the pools of a shepherd in Wheeler, Murphy, Thain, Qthreads (IPDPS 2008), section 4.
#include "base/spin_lock.hpp"
#include "compat/qthread/library/arguments.hpp"
#include "compat/qthread/library/os_thread_number.hpp"

#include <qthread/qpool.h>
#include <tulle/this_thread.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <mutex>
#include <new>
#include <utility>

using tulle::compat::is_object;

namespace {

constexpr std::size_t k_shepherds = 16; // further ones share
constexpr std::size_t k_lists = 4;      // of each
constexpr std::size_t k_bundle = 64;    // pieces
constexpr std::size_t k_usual_alignment = 16;
constexpr std::size_t k_slab_bytes = std::size_t{64} << 10U;

// What a free piece holds.
struct free_piece {
    free_piece* next;
    free_piece* next_bundle; // of the first piece of a bundle
};

struct alignas(64) free_list {
    tulle::base::spin_lock lock;
    free_piece* first = nullptr;
    std::size_t count = 0;
};

struct shepherd_pool {
    std::array<free_list, k_lists> lists;
    tulle::base::spin_lock lock; // guards bundles
    free_piece* bundles = nullptr;

    [[nodiscard]] free_piece* take_bundle() noexcept {
        std::lock_guard const held(lock);
        return bundles == nullptr ? nullptr : std::exchange(bundles, bundles->next_bundle);
    }
    void give_bundle(free_piece* bundle) noexcept {
        std::lock_guard const held(lock);
        bundle->next_bundle = std::exchange(bundles, bundle);
    }
};

struct slab {
    slab* next;
};

// Of the caller; OS threads that are no workers count as the first one's.
std::size_t shepherd_now() noexcept {
    return static_cast<std::size_t>(std::max(tulle::this_thread::shepherd_index(), 0)) %
           k_shepherds;
}

} // namespace

struct qt_mpool_s {
    std::size_t const alignment;
    std::size_t const piece;         // bytes
    std::size_t const first_in_slab; // bytes before the first piece
    std::size_t const pieces_in_slab;
    std::array<shepherd_pool, k_shepherds> shepherds;
    tulle::base::spin_lock slabs_lock; // guards slabs
    slab* slabs = nullptr;

    qt_mpool_s(std::size_t item, std::size_t align)
        : alignment(align),
          piece((std::max(item, sizeof(free_piece)) + align - 1) / align * align),
          first_in_slab((sizeof(slab) + align - 1) / align * align),
          pieces_in_slab(std::max<std::size_t>(k_slab_bytes / piece, 1)) {}
    ~qt_mpool_s() {
        while (slabs != nullptr)
            ::operator delete (std::exchange(slabs, slabs->next), std::align_val_t{alignment});
    }
    qt_mpool_s(qt_mpool_s const&) = delete;
    qt_mpool_s& operator=(qt_mpool_s const&) = delete;

    // Of this shepherd, or else of another.
    [[nodiscard]] free_piece* take_bundle(std::size_t shepherd) noexcept {
        for (std::size_t k = 0; k != k_shepherds; ++k)
            if (free_piece* const bundle = shepherds[(shepherd + k) % k_shepherds].take_bundle())
                return bundle;
        return nullptr;
    }
    // The pieces of a new slab as a list; null: no memory.
    [[nodiscard]] free_piece* make_slab() noexcept {
        auto* const memory = static_cast<std::byte*>(::operator new (
            first_in_slab + pieces_in_slab * piece, std::align_val_t{alignment}, std::nothrow));
        if (memory == nullptr) return nullptr;
        free_piece* first = nullptr;
        for (std::size_t k = pieces_in_slab; k != 0; --k)
            first = new (memory + first_in_slab + (k - 1) * piece) free_piece{first, nullptr};
        std::lock_guard const held(slabs_lock);
        slabs = new (memory) slab{slabs};
        return first;
    }
};

namespace {

free_list& list_in(shepherd_pool& of) noexcept {
    return of.lists[tulle::compat::os_thread_number() % k_lists];
}

std::size_t length(free_piece const* p) {
    std::size_t n = 0;
    for (; p != nullptr; p = p->next) ++n;
    return n;
}

// Called with the lock of `from`, which has two bundles at least: takes one out.
free_piece* split_bundle(free_list& from) noexcept {
    free_piece* const bundle = from.first;
    free_piece* last = bundle;
    for (std::size_t k = 1; k != k_bundle; ++k) last = last->next;
    from.first = std::exchange(last->next, nullptr);
    from.count -= k_bundle;
    return bundle;
}

} // namespace

void* qpool_alloc(qpool* pool) {
    if (!is_object(pool)) return nullptr;
    std::size_t const shepherd = shepherd_now();
    free_list& list = list_in(pool->shepherds[shepherd]);
    std::lock_guard const held(list.lock);
    if (list.first == nullptr) {
        list.first = pool->take_bundle(shepherd);
        if (list.first == nullptr) list.first = pool->make_slab();
        list.count = length(list.first);
        if (list.first == nullptr) return nullptr;
    }
    --list.count;
    return std::exchange(list.first, list.first->next);
}

void qpool_free(qpool* pool, void* mem) {
    if (!is_object(pool) || !is_object<std::max_align_t>(mem)) return;
    shepherd_pool& here = pool->shepherds[shepherd_now()];
    free_list& list = list_in(here);
    free_piece* surplus = nullptr;
    {
        std::lock_guard const held(list.lock);
        list.first = new (mem) free_piece{list.first, nullptr};
        if (++list.count >= 2 * k_bundle + pool->pieces_in_slab) surplus = split_bundle(list);
    }
    if (surplus != nullptr) here.give_bundle(surplus);
}

qpool* qpool_create(size_t const item_size) { return qpool_create_aligned(item_size, 0); }

qpool* qpool_create_aligned(size_t const item_size, size_t const alignment) {
    constexpr std::size_t k_most = std::size_t{1} << 40U;
    std::size_t const align = std::max(alignment, k_usual_alignment);
    bool const is_power = alignment == 0 || std::has_single_bit(alignment);
    if (!is_power || item_size > k_most || align > k_most) return nullptr;
    return new (std::nothrow) qt_mpool_s(item_size, align);
}

void qpool_destroy(qpool* pool) {
    if (is_object(pool)) delete pool;
}

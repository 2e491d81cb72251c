// SPDX-License-Identifier: Apache-2.0
// Pieces lie in slabs, which are freed with the pool. Free ones are on lists: a few lists with a lock each, of which an OS thread uses
// always the same, and a list of whole bundles that they exchange, so that a piece that one thread frees another one gets.
#include "base/spin_lock.hpp"
#include "compat/qthread/os_thread_number.hpp"

#include <qthread/qpool.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <mutex>
#include <new>
#include <utility>

namespace {

constexpr std::size_t k_lists = 16;
constexpr std::size_t k_bundle = 64; // pieces
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

struct slab {
    slab* next;
};

} // namespace

struct qt_mpool_s {
    std::size_t const alignment;
    std::size_t const piece;         // bytes
    std::size_t const first_in_slab; // bytes before the first piece
    std::size_t const pieces_in_slab;
    std::array<free_list, k_lists> lists;
    tulle::base::spin_lock shared_lock; // guards what follows
    free_piece* bundles = nullptr;
    slab* slabs = nullptr;

    qt_mpool_s(std::size_t item, std::size_t align)
        : alignment(align),
          piece((std::max(item, sizeof(free_piece)) + align - 1) / align * align),
          first_in_slab((sizeof(slab) + align - 1) / align * align),
          pieces_in_slab(std::max<std::size_t>(k_slab_bytes / piece, 1)) {}
    ~qt_mpool_s() {
        while (slabs != nullptr) ::operator delete (std::exchange(slabs, slabs->next), std::align_val_t{alignment});
    }
    qt_mpool_s(qt_mpool_s const&) = delete;
    qt_mpool_s& operator=(qt_mpool_s const&) = delete;

    [[nodiscard]] free_list& list() noexcept { return lists[tulle::compat::os_thread_number() % k_lists]; }
    [[nodiscard]] free_piece* take_bundle() noexcept {
        std::lock_guard const held(shared_lock);
        return bundles == nullptr ? nullptr : std::exchange(bundles, bundles->next_bundle);
    }
    void give_bundle(free_piece* bundle) noexcept {
        std::lock_guard const held(shared_lock);
        bundle->next_bundle = std::exchange(bundles, bundle);
    }
    // The pieces of a new slab as a list; null: no memory.
    [[nodiscard]] free_piece* make_slab() noexcept {
        auto* const memory =
            static_cast<std::byte*>(::operator new (first_in_slab + pieces_in_slab * piece, std::align_val_t{alignment}, std::nothrow));
        if (memory == nullptr) return nullptr;
        free_piece* first = nullptr;
        for (std::size_t k = pieces_in_slab; k != 0; --k) first = new (memory + first_in_slab + (k - 1) * piece) free_piece{first, nullptr};
        std::lock_guard const held(shared_lock);
        slabs = new (memory) slab{slabs};
        return first;
    }
};

namespace {

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
    if (pool == nullptr) return nullptr;
    free_list& list = pool->list();
    std::lock_guard const held(list.lock);
    if (list.first == nullptr) {
        list.first = pool->take_bundle();
        if (list.first == nullptr) list.first = pool->make_slab();
        list.count = length(list.first);
        if (list.first == nullptr) return nullptr;
    }
    --list.count;
    return std::exchange(list.first, list.first->next);
}

void qpool_free(qpool* pool, void* mem) {
    if (pool == nullptr || mem == nullptr) return;
    free_list& list = pool->list();
    free_piece* surplus = nullptr;
    {
        std::lock_guard const held(list.lock);
        list.first = new (mem) free_piece{list.first, nullptr};
        if (++list.count >= 2 * k_bundle + pool->pieces_in_slab) surplus = split_bundle(list);
    }
    if (surplus != nullptr) pool->give_bundle(surplus);
}

qpool* qpool_create(size_t const item_size) { return qpool_create_aligned(item_size, 0); }

qpool* qpool_create_aligned(size_t const item_size, size_t const alignment) {
    constexpr std::size_t k_most = std::size_t{1} << 40U;
    std::size_t const align = std::max(alignment, k_usual_alignment);
    if (!std::has_single_bit(align) || item_size > k_most || align > k_most) return nullptr;
    return new (std::nothrow) qt_mpool_s(item_size, align);
}

void qpool_destroy(qpool* pool) { delete pool; }

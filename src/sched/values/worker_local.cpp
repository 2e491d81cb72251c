// SPDX-License-Identifier: Apache-2.0
// The library calls under <tulle/worker_local.hpp>: a table of pointers by local number, which
// grows by segments that never move. A slot is written by the OS thread whose number it has, and
// read by anyone.
#include "sched/scheduler.hpp"

#include <tulle/worker_local.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <utility>

namespace tulle::detail {

namespace {

using slot = std::atomic<void*>;

// Slots; each segment is as long as all before it together.
constexpr std::size_t k_first_segment = 16;
constexpr std::size_t k_segments = 20;
constexpr std::size_t k_none = std::numeric_limits<std::size_t>::max();
constexpr std::size_t k_cache_lines = 128; // two: processors fetch them in pairs

} // namespace

struct local_table {
    std::size_t size; // of a value, rounded up
    std::align_val_t alignment;
    std::array<std::atomic<slot*>, k_segments> segments{};
};

namespace {

struct slot_position {
    std::size_t segment;
    std::size_t offset;
};

constexpr std::size_t length_of(std::size_t segment) noexcept {
    return segment == 0 ? k_first_segment : k_first_segment << (segment - 1);
}
constexpr slot_position position_of(std::size_t index) noexcept {
    if (index < k_first_segment) return {0, index};
    auto const segment = static_cast<std::size_t>(std::bit_width(index / k_first_segment));
    return {segment, index - length_of(segment)};
}

// Null: the table does not reach that far yet.
slot* find(local_table const& t, std::size_t index) noexcept {
    slot_position const p = position_of(index);
    // pairs with make_room.
    slot* const segment = t.segments[p.segment].load(std::memory_order_acquire);
    return segment == nullptr ? nullptr : segment + p.offset;
}

slot& make_room(local_table& t, std::size_t index) {
    slot_position const p = position_of(index);
    auto fresh = std::make_unique<slot[]>(length_of(p.segment)); // all null
    slot* expected = nullptr;
    // release pairs with find; acquire: somebody else was faster.
    bool const mine = t.segments[p.segment].compare_exchange_strong(
        expected, fresh.get(), std::memory_order_release, std::memory_order_acquire);
    return (mine ? fresh.release() : expected)[p.offset];
}

void destroy_value(local_table const& t, void* value, void (*destroy)(void*)) noexcept {
    destroy(value);
    ::operator delete(value, t.alignment);
}

// A value that is destroyed unless it gets into its slot.
void* make_value(local_table& t, void (*construct)(void const*, void*), void const* context) {
    struct memory {
        void* at;
        std::align_val_t alignment;
        ~memory() { ::operator delete(at, alignment); }
    } m{::operator new(t.size, t.alignment), t.alignment};
    construct(context, m.at);
    return std::exchange(m.at, nullptr);
}

std::size_t number_of_caller() {
    static_cast<void>(sched::this_fiber()); // may make it a guest
    return sched::this_worker()->local_number;
}

// The constructor may have waited, and this thread have moved, or another one of this worker have
// been here.
TULLE_COLD void* add_value(local_table& t, void (*construct)(void const*, void*),
                           void const* context, void (*destroy)(void*)) {
    void* const made = make_value(t, construct, context);
    std::size_t const index = number_of_caller();
    slot* const found = find(t, index);
    slot& own = found != nullptr ? *found : make_room(t, index);
    void* expected = nullptr;
    // release pairs with local_at. acquire: of this OS thread itself, at most.
    if (own.compare_exchange_strong(expected, made, std::memory_order_release,
                                    std::memory_order_acquire))
        return made;
    destroy_value(t, made, destroy);
    return expected;
}

template <class F> void for_each_segment(local_table& t, F&& action) noexcept {
    for (std::size_t s = 0; s < k_segments; ++s) {
        // pairs with make_room.
        if (slot* const first = t.segments[s].load(std::memory_order_acquire))
            action(first, length_of(s));
    }
}

} // namespace

local_table* make_local_table(std::size_t size, std::size_t alignment) {
    std::size_t const lines = std::max(alignment, k_cache_lines);
    if (size > static_cast<std::size_t>(PTRDIFF_MAX) - lines) throw std::bad_alloc();
    return new local_table{(std::max<std::size_t>(size, 1) + lines - 1) / lines * lines,
                           std::align_val_t{lines}};
}

void clear_local_table(local_table* t, void (*destroy)(void*)) noexcept {
    for_each_segment(*t, [&](slot* first, std::size_t count) {
        for (slot* s = first; s != first + count; ++s) {
            // pairs with add_value.
            void* const value = s->exchange(nullptr, std::memory_order_acquire);
            if (value != nullptr) destroy_value(*t, value, destroy);
        }
    });
}

void free_local_table(local_table* t, void (*destroy)(void*)) noexcept {
    clear_local_table(t, destroy);
    for_each_segment(*t, [](slot* first, std::size_t) { delete[] first; });
    delete t;
}

void* local_value(local_table* t, void (*construct)(void const*, void*), void const* context,
                  void (*destroy)(void*)) {
    slot const* const own = find(*t, number_of_caller());
    // pairs with add_value.
    void* const value = own == nullptr ? nullptr : own->load(std::memory_order_acquire);
    return TULLE_LIKELY(value != nullptr) ? value : add_value(*t, construct, context, destroy);
}

std::size_t next_local(local_table const* t, std::size_t index) noexcept {
    for (; index != k_none && position_of(index).segment < k_segments; ++index) {
        slot_position const p = position_of(index);
        // pairs with make_room.
        if (t->segments[p.segment].load(std::memory_order_acquire) == nullptr)
            index += length_of(p.segment) - p.offset - 1;
        else if (local_at(t, index) != nullptr)
            return index;
    }
    return k_none;
}

void* local_at(local_table const* t, std::size_t index) noexcept {
    if (position_of(index).segment >= k_segments) return nullptr;
    slot const* const s = find(*t, index);
    return s == nullptr ? nullptr : s->load(std::memory_order_acquire); // pairs with add_value
}

} // namespace tulle::detail

// SPDX-License-Identifier: Apache-2.0
// A queue of segments: a list, as that of Michael and Scott (1996, doi:10.1145/248052.248106), of
// arrays in which who puts in and who takes out draw places by fetch-and-add, as in the queue of
// Morrison and Afek (2013, doi:10.1145/2442516.2442527), without its rings: a place is used once.
// Hazard pointers (hazard.hpp) keep a segment as long as somebody reads it.
//   cells[i]  null: nobody has come; a value; taken(): who takes out has been here. One put at most
//             changes null to its value, and one take whatever is there to taken(); a put that
//             comes later draws another place.
//   filled    places drawn to put in;  drawn  places drawn to take out; more than there are places:
//             the segment is full, or used up
//   next      set once, when the segment is full, to one that has a value in its first place
//   INV-1     the head does not pass the tail, so a segment that the tail points to is in the list
#pragma once

#include "compat/qthread/structures/hazard.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tulle::compat {

template <class Machine, std::size_t Places> struct fifo_segment {
    template <class T> using atomic = typename Machine::template atomic<T>;

    alignas(64) atomic<std::uint32_t> filled{0};
    atomic<fifo_segment*> next{nullptr};
    alignas(64) atomic<std::uint32_t> drawn{0};
    std::array<atomic<void*>, Places> cells{};
};

template <class Machine, std::size_t Places> class fifo_core {
    template <class T> using atomic = typename Machine::template atomic<T>;
    using record = basic_hazard_record<Machine>;

public:
    using segment = fifo_segment<Machine, Places>;

    explicit fifo_core(segment* first) noexcept : m_head(first), m_tail(first) {}
    fifo_core(fifo_core const&) = delete;
    fifo_core& operator=(fifo_core const&) = delete;

    // Not null. False: nothing was done, as it takes another segment, and `spare` is null. A spare
    // that is used becomes null.
    [[nodiscard]] bool append(record& hazards, void* value, segment*& spare) noexcept {
        bool const done = put(hazards, value, spare);
        hazards.clear();
        return done;
    }
    // Null: empty. Segments that are used up go to `free` when nobody looks at them.
    [[nodiscard]] void* take_first(record& hazards, void (*free)(void*)) noexcept {
        void* const value = take(hazards, free);
        hazards.clear();
        return value;
    }
    [[nodiscard]] bool is_empty(record& hazards) noexcept {
        segment& s = *hazards.protect(0, m_head);
        bool const empty = has_no_values(s);
        hazards.clear();
        return empty;
    }
    // Nobody else uses the queue.
    [[nodiscard]] segment* first() const noexcept { return m_head.load(std::memory_order_relaxed); }

private:
    // An address that no value has.
    [[nodiscard]] static void* taken() noexcept {
        static char s_taken = 0;
        return &s_taken;
    }
    [[nodiscard]] static bool is_value(void const* found) noexcept {
        return found != nullptr && found != taken();
    }

    [[nodiscard]] bool put(record& hazards, void* value, segment*& spare) noexcept {
        for (;;) {
            segment& s = *hazards.protect(0, m_tail);
            // relaxed: the cells carry the values.
            std::uint32_t const place = s.filled.fetch_add(1, std::memory_order_relaxed);
            if (place < Places) {
                void* nobody = nullptr;
                // release pairs with take: the value. relaxed: it is taken, nothing is read.
                if (s.cells[place].compare_exchange_strong(nobody, value, std::memory_order_release,
                                                           std::memory_order_relaxed))
                    return true;
            } else if (segment* next = s.next.load(std::memory_order_acquire)) { // pairs with grow
                advance_tail(s, next);
            } else if (spare == nullptr) {
                return false;
            } else if (grow(s, value, spare)) {
                return true;
            }
        }
    }
    // The spare comes behind the last segment, with the value in its first place.
    [[nodiscard]] bool grow(segment& last, void* value, segment*& spare) noexcept {
        // relaxed: nobody else has it yet.
        spare->cells[0].store(value, std::memory_order_relaxed);
        spare->filled.store(1, std::memory_order_relaxed);
        segment* next = nullptr;
        // release pairs with the acquire loads of next: the spare. acquire: another thread's, which
        // becomes the tail.
        if (last.next.compare_exchange_strong(next, spare, std::memory_order_release,
                                              std::memory_order_acquire)) {
            advance_tail(last, spare);
            spare = nullptr;
            return true;
        }
        advance_tail(last, next);
        return false;
    }

    [[nodiscard]] void* take(record& hazards, void (*free)(void*)) noexcept {
        for (;;) {
            segment& s = *hazards.protect(0, m_head);
            if (is_used_up(s)) return nullptr;
            // acq_rel pairs with itself, is_used_up and has_no_values: who sees that a place was
            // drawn, or draws one after it, sees what was put in before, and the next segment.
            std::uint32_t const place = s.drawn.fetch_add(1, std::memory_order_acq_rel);
            if (place < Places) {
                // acquire pairs with put: the value. release pairs with has_no_values, as above.
                void* const value = s.cells[place].exchange(taken(), std::memory_order_acq_rel);
                if (value != nullptr) return value;
            } else if (segment* const next = s.next.load(std::memory_order_acquire)) {
                leave(hazards, s, next, free); // acquire pairs with grow
            } else {
                return nullptr;
            }
        }
    }
    void leave(record& hazards, segment& s, segment* next, void (*free)(void*)) noexcept {
        // INV-1. relaxed: the fence of B2 follows.
        if (m_tail.load(std::memory_order_relaxed) == &s) advance_tail(s, next);
        segment* first = &s;
        // B1. release pairs with protect: the segment, which this thread has got by the acquire.
        if (!m_head.compare_exchange_strong(first, next, std::memory_order_release,
                                            std::memory_order_relaxed))
            return;
        hazards.clear();
        hazards.retire(&s, free);
    }
    // Each place that was drawn to put in has been drawn to take out, and there is no other
    // segment: at the moment of the second look there was nothing to take.
    [[nodiscard]] static bool is_used_up(segment const& s) noexcept {
        std::uint32_t const drawn = s.drawn.load(std::memory_order_acquire); // pairs with take
        // relaxed: what was there when the places were drawn is seen.
        return drawn >= s.filled.load(std::memory_order_relaxed) &&
               s.next.load(std::memory_order_relaxed) == nullptr;
    }
    // Values that are in their places stay there as long as no place is drawn: so if none was, and
    // all places were found without one, they were so when the first was looked at.
    [[nodiscard]] static bool has_no_values(segment const& s) noexcept {
        for (;;) {
            std::uint32_t const drawn = s.drawn.load(std::memory_order_acquire); // pairs with take
            // relaxed, both: as above.
            if (s.next.load(std::memory_order_relaxed) != nullptr) return false;
            std::uint32_t const end =
                std::min<std::uint32_t>(s.filled.load(std::memory_order_relaxed), Places);
            for (std::uint32_t k = drawn; k < end; ++k)
                // acquire pairs with take: a place that is taken shows that it was drawn.
                if (is_value(s.cells[k].load(std::memory_order_acquire))) return false;
            // relaxed: as above.
            if (s.drawn.load(std::memory_order_relaxed) == drawn) return true;
        }
    }
    // Moves the tail one segment on, if it is still there.
    void advance_tail(segment& before, segment* to) noexcept {
        segment* expected = &before;
        // B1 for a thread that announces the tail: one that lets the head pass a segment has seen
        // that the tail has. release pairs with protect: the segment.
        m_tail.compare_exchange_strong(expected, to, std::memory_order_release,
                                       std::memory_order_relaxed);
    }

    alignas(64) atomic<segment*> m_head;
    alignas(64) atomic<segment*> m_tail;
};

} // namespace tulle::compat

// SPDX-License-Identifier: Apache-2.0
// What a slot of the table says of all words that it stands for, while its lock is held. A granule
// is 8 aligned bytes; a word is named by its address, so a granule has up to eight words, whatever
// their sizes.
//   0                        every word is full, and nobody waits
//   mask | granule | 1       these words of this granule are empty: bit 56 + k of the mask is the
//                            word at byte k
//   pointer to a queue | 4   threads wait for a word; its `next` says the rest in the same way
//   pointer to a tally | 6   another granule with empty words; its `next` likewise
// 2 alone means locked. A granule occurs once, a queue once for each word; the first two kinds end
// the chain.
#pragma once

#include "sync/word_queue.hpp"

#include <cstdint>
#include <utility>

namespace tulle::sync {

using slot_value = std::uintptr_t;
static_assert(sizeof(slot_value) == 8, "a slot keeps eight marks above an address");

inline constexpr slot_value k_slot_locked = 2;

// Needed only when two granules of one slot have empty words.
struct word_tally {
    slot_value next = 0;
    slot_value marks = 0; // mask | granule | 1
};

namespace slot {

// Addresses of user space end below, in any paging mode of today.
inline constexpr unsigned k_mask_shift = 56;
inline constexpr slot_value k_kind = 7;
inline constexpr slot_value k_marks = 1, k_queue = 4, k_tally = 6;
inline constexpr slot_value k_mask = ~slot_value{0} << k_mask_shift;

[[nodiscard]] constexpr slot_value mark_of(std::uintptr_t address) noexcept {
    return slot_value{1} << (k_mask_shift + (address & 7));
}
// Exactly this word of the granule is empty.
[[nodiscard]] constexpr slot_value marks_of(std::uintptr_t address) noexcept {
    return mark_of(address) | (address & ~slot_value{7}) | k_marks;
}
[[nodiscard]] constexpr bool is_chain(slot_value v) noexcept { return (v & k_queue) != 0; }
[[nodiscard]] constexpr bool is_marks_of(slot_value v, std::uintptr_t address) noexcept {
    return (v & ~k_mask) == ((address & ~slot_value{7}) | k_marks);
}
// The value is no chain, and not locked.
[[nodiscard]] constexpr bool says_empty(slot_value v, std::uintptr_t address) noexcept {
    return is_marks_of(v, address) && (v & mark_of(address)) != 0;
}
template <class T> [[nodiscard]] slot_value pointer_to(T* target, slot_value kind) noexcept {
    return reinterpret_cast<slot_value>(target) | kind;
}
template <class T> [[nodiscard]] T* pointer_in(slot_value v) noexcept {
    return reinterpret_cast<T*>(v & ~k_kind);
}

// For a word that alone has a part in its slot: the thread that waits to take its value, if no
// other thread waits.
template <class Parking>
[[nodiscard]] word_waiter<Parking>* only_taker(slot_value head, std::uintptr_t address) noexcept {
    if ((head & k_kind) != k_queue) return nullptr;
    auto const* const q = pointer_in<word_queue<Parking>>(head);
    return q->address == address && q->next == marks_of(address) ? q->only_taker() : nullptr;
}
// The queue of the word, in the frame of the first that waits for it.
template <class Parking>
[[nodiscard]] word_queue<Parking>& add_queue(slot_value& head, std::uintptr_t address,
                                             word_waiter<Parking>& host) noexcept {
    word_queue<Parking>* const fresh = host.make_own();
    fresh->next = head;
    fresh->address = address;
    fresh->host = &host;
    head = pointer_to(fresh, k_queue);
    return *fresh;
}

} // namespace slot

// One word in a chain. Valid until the chain changes by other means.
template <class Parking> class word_chain {
public:
    using queue = word_queue<Parking>;

    word_chain(slot_value& head, std::uintptr_t address) noexcept
        : m_head(head), m_address(address) {
        find();
    }

    [[nodiscard]] bool is_full() const noexcept {
        return m_marks == nullptr || (*m_marks & slot::mark_of(m_address)) == 0;
    }
    [[nodiscard]] queue* waiting() const noexcept {
        return m_queue == nullptr ? nullptr : slot::pointer_in<queue>(*m_queue);
    }
    // Whether set_empty can do without memory.
    [[nodiscard]] bool has_room() const noexcept { return m_marks != nullptr || *m_end == 0; }

    // `spare` is used, and then null, if there is no room.
    void set_empty(word_tally*& spare) noexcept {
        if (m_marks != nullptr) {
            *m_marks |= slot::mark_of(m_address);
        } else if (*m_end == 0) {
            *m_end = slot::marks_of(m_address);
        } else {
            *spare = {*m_end, slot::marks_of(m_address)};
            *m_end = slot::pointer_to(std::exchange(spare, nullptr), slot::k_tally);
        }
    }
    // A tally that is no longer needed, or null.
    [[nodiscard]] word_tally* set_full() noexcept {
        *m_marks &= ~slot::mark_of(m_address);
        if ((*m_marks & slot::k_mask) != 0) return nullptr;
        if (m_tally == nullptr) {
            *m_marks = 0;
            return nullptr;
        }
        word_tally* const emptied = slot::pointer_in<word_tally>(*m_tally);
        unlink_tally(*emptied);
        return emptied;
    }
    // Called after the state was set. Null: nobody waits any longer.
    void set_queue(queue* present) noexcept {
        if (m_queue == nullptr) return;
        *m_queue = present == nullptr ? waiting()->next : slot::pointer_to(present, slot::k_queue);
    }
    [[nodiscard]] queue* add_queue(word_waiter<Parking>& host) noexcept {
        return &slot::add_queue(m_head, m_address, host);
    }

private:
    void find() noexcept {
        slot_value* link = &m_head;
        while (slot::is_chain(*link))
            link = (*link & slot::k_kind) == slot::k_queue ? pass_queue(link) : pass_tally(link);
        m_end = link;
        if (slot::is_marks_of(*link, m_address)) m_marks = link;
    }
    [[nodiscard]] slot_value* pass_queue(slot_value* link) noexcept {
        auto* const q = slot::pointer_in<queue>(*link);
        if (q->address == m_address) m_queue = link;
        return &q->next;
    }
    [[nodiscard]] slot_value* pass_tally(slot_value* link) noexcept {
        auto* const t = slot::pointer_in<word_tally>(*link);
        if (slot::is_marks_of(t->marks, m_address)) {
            m_marks = &t->marks;
            m_tally = link;
        }
        return &t->next;
    }
    // The link to the queue may be that in the tally.
    void unlink_tally(word_tally& t) noexcept {
        *m_tally = t.next;
        if (m_queue == &t.next) m_queue = m_tally;
    }

    slot_value& m_head;
    std::uintptr_t m_address;
    slot_value* m_queue = nullptr; // the link to the word's queue
    slot_value* m_marks = nullptr; // those of its granule
    slot_value* m_tally = nullptr; // the link to the tally that they are in
    slot_value* m_end = nullptr;   // the link that ends the chain
};

} // namespace tulle::sync

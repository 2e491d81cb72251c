// SPDX-License-Identifier: Apache-2.0
// The full/empty table of this process: made at the first use, never freed, independent of whether
// the run time is started. After fork(2) the child has the states of the parent, but nobody waits;
// a slot that another thread had locked at that moment says that its words are full.
#pragma once

#include "sync/full_empty_table.hpp"
#include "sync/parking.hpp"

#include <tulle/detail/attributes.hpp>

#include <atomic>
#include <cstdint>

namespace tulle::sync {

// A word of the program's memory. Atomic, because read_ff may meet a writer, whose value it then
// does not use.
template <class Word> class memory_cell {
public:
    using value_type = Word;
    static constexpr bool k_is_lock = false;

    explicit memory_cell(Word* word) noexcept : m_word(word) {}

    [[nodiscard]] std::uintptr_t address() const noexcept {
        return reinterpret_cast<std::uintptr_t>(m_word);
    }
    // acquire and release pair with each other (full_empty_word::read_unlocked).
    [[nodiscard]] Word load() const noexcept {
        return std::atomic_ref(*m_word).load(std::memory_order_acquire);
    }
    void store(Word value) const noexcept {
        std::atomic_ref(*m_word).store(value, std::memory_order_release);
    }

    void copy_out(void* buffer) const noexcept { *static_cast<Word*>(buffer) = load(); }
    void move_out(void* buffer) const noexcept { copy_out(buffer); }
    void copy_in(void const* buffer) const noexcept { store(*static_cast<Word const*>(buffer)); }
    void move_in(void const* buffer) const noexcept { copy_in(buffer); }
    static void pass(void* target, void const* source) noexcept {
        *static_cast<Word*>(target) = *static_cast<Word const*>(source);
    }

private:
    Word* m_word;
};

// Written once.
inline constinit std::atomic<full_empty_table<parking> const*> g_process_words{nullptr};

[[nodiscard]] full_empty_table<parking> const& make_process_words() noexcept;

[[nodiscard]] inline full_empty_table<parking> const& process_words() noexcept {
    // Pairs with make_process_words.
    auto const* const made = g_process_words.load(std::memory_order_acquire);
    return TULLE_LIKELY(made != nullptr) ? *made : make_process_words();
}

template <class Word>
[[nodiscard]] full_empty_word<parking, memory_cell<Word>> process_word(Word* word) noexcept {
    return {process_words(), memory_cell<Word>(word)};
}

} // namespace tulle::sync

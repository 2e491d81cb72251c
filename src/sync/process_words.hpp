// SPDX-License-Identifier: Apache-2.0
// The full/empty table of this process: made at the first use, never freed, independent of whether the run time is started.
#pragma once

#include "sync/full_empty_table.hpp"
#include "sync/parking.hpp"

#include <atomic>
#include <cstdint>
#include <cstring>

namespace tulle::sync {

// A word of the program's memory. Atomic, because read_ff may meet a writer, whose value it then does not use.
template <class Word> class memory_cell {
public:
    using value_type = Word;

    explicit memory_cell(Word* word) noexcept : m_word(word) {}

    [[nodiscard]] std::uintptr_t address() const noexcept { return reinterpret_cast<std::uintptr_t>(m_word); }
    // acquire and release pair with each other (full_empty_word::read_unlocked).
    [[nodiscard]] Word load() const noexcept { return std::atomic_ref(*m_word).load(std::memory_order_acquire); }
    void store(Word value) const noexcept { std::atomic_ref(*m_word).store(value, std::memory_order_release); }

    void copy_out(void* place) const noexcept { *static_cast<Word*>(place) = load(); }
    void move_out(void* place) const noexcept { copy_out(place); }
    void copy_in(void const* place) const noexcept { store(*static_cast<Word const*>(place)); }
    void move_in(void const* place) const noexcept { copy_in(place); }
    static void pass(void* to, void const* from) noexcept { *static_cast<Word*>(to) = *static_cast<Word const*>(from); }

private:
    Word* m_word;
};

[[nodiscard]] full_empty_table<parking> const& process_words() noexcept;

template <class Word> [[nodiscard]] full_empty_word<parking, memory_cell<Word>> process_word(Word* word) noexcept {
    return {process_words(), memory_cell<Word>(word)};
}

// In a child process, which has but the thread that called fork(2): nobody waits, and a slot that another thread had locked says that its
// words are full.
void repair_words_after_process_fork() noexcept;
// Gives back the memory of slots that say nothing, as all do when every word is full. Any thread may use words meanwhile.
void trim_words() noexcept;

} // namespace tulle::sync

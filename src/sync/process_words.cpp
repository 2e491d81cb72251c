// SPDX-License-Identifier: Apache-2.0
#include "sync/process_words.hpp"

#include "base/error.hpp"
#include "os/memory.hpp"
#include "os/touched_pages.hpp"
#include "sync/locked_addresses.hpp"
#include "sync/waiter_ids.hpp"

#include <tulle/detail/feb_calls.hpp>

#include <array>
#include <cstring>
#include <new>

#include <pthread.h>

namespace tulle::sync {

namespace {

using table = full_empty_table<parking>;
using slot_type = table::slot_type;
using count_type = table::count_type;

constexpr std::size_t k_last_slots = 512;

// In the mapping, behind the counts, is the table itself.
std::size_t bytes_for(std::size_t count) noexcept {
    return count * (sizeof(slot_type) + sizeof(count_type)) + sizeof(table);
}

// Reserves address space only: a page takes memory when a word near it has been empty. Where even
// that is refused, it makes a smaller table, in which words share slots more often. Null: there is
// none at all.
table const* reserve_table() noexcept {
    for (unsigned bits = 24; bits >= 12; bits -= 4) {
        std::size_t const count = std::size_t{1} << bits;
        auto* const memory =
            static_cast<std::byte*>(os::system_memory().reserve(bytes_for(count), os::page_size()));
        if (memory == nullptr) continue;
        // advice: a word that is empty should cost no huge page
        os::system_memory().advise_huge(memory, bytes_for(count), false);
        auto* const slots = reinterpret_cast<slot_type*>(memory); // zeros are slots
        auto* const counts = reinterpret_cast<count_type*>(slots + count);
        return ::new (static_cast<void*>(counts + count)) table(slots, counts, count);
    }
    return nullptr;
}

table const& last_table() noexcept {
    static constinit std::array<slot_type, k_last_slots> s_slots{};
    static constinit std::array<count_type, k_last_slots> s_counts{};
    static constinit table s_table(s_slots.data(), s_counts.data(), k_last_slots);
    return s_table;
}

void repair_page(std::byte* page, void*) noexcept {
    auto* const slots = reinterpret_cast<slot_type*>(page);
    for (std::size_t k = 0; k < os::page_size() / sizeof(slot_type); ++k) table::repair(slots[k]);
}

void on_fork_in_child() noexcept {
    if constexpr (k_check_addresses) locked_addresses::instance().repair();
    // relaxed: there is one thread
    table const* const t = g_process_words.load(std::memory_order_relaxed);
    if (t == nullptr) return;
    if (t != &last_table())
        return os::for_each_touched_page(reinterpret_cast<std::byte*>(t->slots()),
                                         t->count() * sizeof(slot_type), &repair_page, nullptr);
    for (std::size_t k = 0; k < k_last_slots; ++k) table::repair(t->slots()[k]);
}

} // namespace

// Two threads may come here at once; what the slower one has reserved is given back.
table const& make_process_words() noexcept {
    if (int const error = pthread_atfork(nullptr, nullptr, [] { on_fork_in_child(); }))
        base::fatal("cannot register for fork: %s", std::strerror(error));
    table const* const made = reserve_table();
    table const* expected = nullptr;
    // release pairs with process_words; acquire: another thread was faster.
    if (g_process_words.compare_exchange_strong(expected, made != nullptr ? made : &last_table(),
                                                std::memory_order_acq_rel,
                                                std::memory_order_acquire))
        return made != nullptr ? *made : last_table();
    if (made != nullptr)
        static_cast<void>(os::system_memory().release(made->slots(), bytes_for(made->count())));
    return *expected;
}

} // namespace tulle::sync

namespace tulle::detail {

using sync::parking;
using sync::process_word;
using sync::word_result;

namespace {

void begin(void const* word) noexcept {
    parking::schedule_point();
    if constexpr (sync::k_check_addresses)
        sync::locked_addresses::instance().check_word(reinterpret_cast<std::uintptr_t>(word));
}
void check(word_result result) {
    if (result == word_result::no_memory) throw std::bad_alloc();
}

} // namespace

template <class Word> Word feb_calls<Word>::read_ff(Word* word) noexcept {
    begin(word);
    Word value;
    static_cast<void>(process_word(word).read_ff(value, k_no_deadline)); // reading needs no memory
    return value;
}

template <class Word> Word feb_calls<Word>::read_fe(Word* word) {
    begin(word);
    Word value;
    check(process_word(word).read_fe(value, k_no_deadline));
    return value;
}

template <class Word> void feb_calls<Word>::write_ef(Word* word, Word value) noexcept {
    begin(word);
    static_cast<void>(process_word(word).write_ef(value, k_no_deadline)); // filling needs no memory
}

template <class Word> void feb_calls<Word>::fill(Word* word) noexcept {
    begin(word);
    static_cast<void>(process_word(word).fill());
}

template <class Word> void feb_calls<Word>::empty(Word* word) {
    begin(word);
    check(process_word(word).empty());
}

template <class Word>
bool feb_calls<Word>::apply(feb_operation operation, Word* word, Word& value, limit until) {
    begin(word);
    auto w = process_word(word);
    word_result const result = operation == feb_operation::read_ff
                                   ? w.read_ff(value, until)
                                   : w.perform(operation, value, until);
    check(result);
    return result == word_result::done;
}

template struct feb_calls<std::uint8_t>;
template struct feb_calls<std::uint16_t>;
template struct feb_calls<std::uint32_t>;
template struct feb_calls<std::uint64_t>;

// The size does not matter to either.
bool feb_is_full(void const* word) noexcept {
    begin(word);
    return process_word(static_cast<std::uint8_t*>(const_cast<void*>(word))).is_full();
}

std::size_t feb_waiting(void const* word, std::uint64_t* ids, std::size_t capacity) noexcept {
    parking::schedule_point();
    sync::waiter_ids found(ids, capacity);
    process_word(static_cast<std::uint8_t*>(const_cast<void*>(word)))
        .visit_waiting([&found](auto const& w) { found.add(w); });
    return found.count();
}

} // namespace tulle::detail

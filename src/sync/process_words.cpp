// SPDX-License-Identifier: Apache-2.0
#include "sync/process_words.hpp"

#include "os/memory.hpp"
#include "sync/waiter_ids.hpp"

#include <tulle/detail/feb_calls.hpp>

#include <array>
#include <new>

namespace tulle::sync {

namespace {

using table = full_empty_table<parking>;
using slot_type = table::slot_type;
using count_type = table::count_type;

struct slots {
    slot_type* first;
    count_type* emptyings;
    std::size_t count;
};

constexpr std::size_t k_last_slots = 512;

// Address space only: a page is there when a word near it has been empty. Where even that is refused, a smaller table, in which words share
// slots more often; the last one is always there.
slots reserve_slots() noexcept {
    for (unsigned bits = 24; bits >= 12; bits -= 4) {
        std::size_t const count = std::size_t{1} << bits;
        void* const memory = os::system_memory().reserve(count * (sizeof(slot_type) + sizeof(count_type)), os::page_size());
        if (memory == nullptr) continue;
        auto* const first = static_cast<slot_type*>(memory);
        return {first, reinterpret_cast<count_type*>(first + count), count};
    }
    static constinit std::array<slot_type, k_last_slots> s_last{};
    static constinit std::array<count_type, k_last_slots> s_last_emptyings{};
    return {s_last.data(), s_last_emptyings.data(), k_last_slots};
}

slots const& all_slots() noexcept {
    static slots const s_all = reserve_slots();
    return s_all;
}

} // namespace

full_empty_table<parking> const& process_words() noexcept {
    static table const s_table(all_slots().first, all_slots().emptyings, all_slots().count);
    return s_table;
}

} // namespace tulle::sync

namespace tulle::detail {

using sync::parking;
using sync::process_word;
using sync::word_result;

namespace {

void check(word_result result) {
    if (result == word_result::no_memory) throw std::bad_alloc();
}

} // namespace

template <class Word> Word feb_calls<Word>::read_ff(Word* word) noexcept {
    parking::schedule_point();
    Word value;
    static_cast<void>(process_word(word).read_ff(value, k_no_deadline)); // reading needs no memory
    return value;
}

template <class Word> Word feb_calls<Word>::read_fe(Word* word) {
    parking::schedule_point();
    Word value;
    check(process_word(word).read_fe(value, k_no_deadline));
    return value;
}

template <class Word> void feb_calls<Word>::write_ef(Word* word, Word value) noexcept {
    parking::schedule_point();
    static_cast<void>(process_word(word).write_ef(value, k_no_deadline)); // filling needs no memory
}

template <class Word> void feb_calls<Word>::fill(Word* word) noexcept {
    parking::schedule_point();
    static_cast<void>(process_word(word).fill());
}

template <class Word> void feb_calls<Word>::empty(Word* word) {
    parking::schedule_point();
    check(process_word(word).empty());
}

template <class Word> bool feb_calls<Word>::apply(feb_operation what, Word* word, Word& value, std::uint64_t deadline) {
    parking::schedule_point();
    auto w = process_word(word);
    word_result const result = what == feb_operation::read_ff ? w.read_ff(value, deadline) : w.perform(what, value, deadline);
    check(result);
    return result == word_result::done;
}

template struct feb_calls<std::uint8_t>;
template struct feb_calls<std::uint16_t>;
template struct feb_calls<std::uint32_t>;
template struct feb_calls<std::uint64_t>;

// The size does not matter to either.
bool feb_is_full(void const* word) noexcept {
    parking::schedule_point();
    return process_word(static_cast<std::uint8_t*>(const_cast<void*>(word))).is_full();
}

std::size_t feb_waiting(void const* word, std::uint64_t* ids, std::size_t capacity) noexcept {
    parking::schedule_point();
    sync::waiter_ids found(ids, capacity);
    process_word(static_cast<std::uint8_t*>(const_cast<void*>(word))).visit_waiting([&found](auto const& w) { found.add(w); });
    return found.count();
}

} // namespace tulle::detail

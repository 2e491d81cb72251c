// SPDX-License-Identifier: Apache-2.0
// Full/empty words: every aligned word of 1, 2, 4 or 8 bytes of memory has a state, and threads
// wait for it. Contexts: any thread of the process. What each operation does in each state:
// src/sync/full_empty.md.
// Source: Wheeler, Murphy and Thain, "Qthreads", IPDPS 2008, doi:10.1109/IPDPS.2008.4536359,
// section 3.1, after the memory of the HEP and Tera MTA.
#pragma once

#include <tulle/detail/chrono.hpp>
#include <tulle/detail/deadline.hpp>
#include <tulle/detail/feb_calls.hpp>
#include <tulle/schedule_point.hpp>
#include <tulle/thread.hpp>
#include <tulle/wait_limit.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

namespace tulle::feb {

// Of 1, 2, 4 or 8 bytes, and aligned to that: an integer, a floating-point number, a pointer, an
// enumeration, or a small class.
template <class T>
concept word = std::is_trivially_copyable_v<T> && std::is_trivially_default_constructible_v<T> &&
               !std::is_const_v<T> &&
               alignof(T) == sizeof(T) &&
               (sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8);

} // namespace tulle::feb

namespace tulle::detail {

template <std::size_t Bytes>
using feb_bits = std::conditional_t<
    Bytes == 8, std::uint64_t,
    std::conditional_t<Bytes == 4, std::uint32_t,
                       std::conditional_t<Bytes == 2, std::uint16_t, std::uint8_t>>>;

template <feb::word T> struct feb_word {
    using bits = feb_bits<sizeof(T)>;
    using calls = feb_calls<bits>;

    static bits* of(T& word) noexcept { return reinterpret_cast<bits*>(&word); }
    static bool write(feb_operation performed, T& word, T value, limit until) {
        bits given = std::bit_cast<bits>(value);
        return calls::apply(performed, of(word), given, until);
    }
    static std::optional<T> read(feb_operation performed, T& word, limit until) {
        bits found{};
        if (!calls::apply(performed, of(word), found, until)) return std::nullopt;
        return std::bit_cast<T>(found);
    }
};

} // namespace tulle::detail

namespace tulle::feb {

// A word that nobody has emptied is full. Its state belongs to the address: fill a word before its
// memory is freed or used for something else, and let nobody wait for it then. Words of different
// sizes at one address are one word; within 8 bytes, words at different addresses are different.
// Waiters are served in the order of their coming: the readers (read_ff) of a word that becomes
// full all at once, then takers (read_fe) and writers (write_ff) until one has emptied it; of those
// that wait for an empty word, the first.
// Memory ordering: what happens before an operation that makes a word full or empty happens before
// the return of those that find it so.
// Between operations the owner of a word may use it as any variable; while others may read it by
// read_ff, it is written by these functions only.
// Errors: what may empty a word (empty, purge, read_fe) throws std::bad_alloc, with nothing done,
// when there is no memory to remember it.
//
// Forms: plain, waits as long as it takes, or, with a wait_limit, until that is reached; try_*, not
// at all; try_*_for and try_*_until, until the time is up. A limit that has been reached only
// tries.

// Whether the word is full; another thread may have changed that since.
[[nodiscard]] inline bool is_full(auto const& w) noexcept { return detail::feb_is_full(&w); }
// The numbers of the threads that wait for this word; 0 for a forked thread that has none. A
// snapshot, for human-readable output.
template <word T> [[nodiscard]] std::vector<thread_id> waiting(T const& w) {
    std::vector<thread_id> ids(detail::feb_waiting(&w, nullptr, 0));
    ids.resize(std::min(ids.size(), detail::feb_waiting(&w, ids.data(), ids.size())));
    return ids;
}

// --- without waiting -----------------------------------------------------------------------------

// Makes it full as it is.
template <word T> void fill(T& w) noexcept {
    detail::feb_word<T>::calls::fill(detail::feb_word<T>::of(w));
}
// Makes it empty; the value stays until somebody writes.
template <word T> void empty(T& w) {
    detail::feb_word<T>::calls::empty(detail::feb_word<T>::of(w));
}
// Writes, and makes it empty.
template <word T> void purge(T& w, std::type_identity_t<T> value = T{}) {
    static_cast<void>(detail::feb_word<T>::write(detail::feb_operation::purge, w, value, 0));
}
// Writes, and makes it full.
template <word T> void write_f(T& w, std::type_identity_t<T> value) {
    static_cast<void>(detail::feb_word<T>::write(detail::feb_operation::write_f, w, value, 0));
}
// What is in it, full or empty.
template <word T> [[nodiscard]] T read_xx(T const& w) noexcept {
    schedule_point();
    T value;
    __atomic_load(&w, &value, __ATOMIC_ACQUIRE); // pairs with the writers' releases
    return value;
}

// --- waits until it is full ----------------------------------------------------------------------

// Reads, and leaves it full.
template <word T> [[nodiscard]] T read_ff(T const& w) noexcept {
    using as = detail::feb_word<T>;
    return std::bit_cast<T>(as::calls::read_ff(as::of(const_cast<T&>(w))));
}
template <word T> [[nodiscard]] std::optional<T> read_ff(T const& w, wait_limit const& limit) {
    return detail::feb_word<T>::read(detail::feb_operation::read_ff, const_cast<T&>(w),
                                     limit.get());
}
template <word T> [[nodiscard]] std::optional<T> try_read_ff(T const& w) {
    return detail::feb_word<T>::read(detail::feb_operation::read_ff, const_cast<T&>(w), 0);
}
template <word T, class Rep, class Period>
[[nodiscard]] std::optional<T> try_read_ff_for(T const& w,
                                               std::chrono::duration<Rep, Period> const& timeout) {
    return read_ff(w, wait_limit(timeout));
}
template <word T, class Clock, class Duration>
[[nodiscard]] std::optional<T>
try_read_ff_until(T const& w, std::chrono::time_point<Clock, Duration> const& deadline) {
    return read_ff(w, wait_limit(deadline));
}

// Reads, and makes it empty.
template <word T> T read_fe(T& w) {
    return std::bit_cast<T>(detail::feb_word<T>::calls::read_fe(detail::feb_word<T>::of(w)));
}
template <word T> [[nodiscard]] std::optional<T> read_fe(T& w, wait_limit const& limit) {
    return detail::feb_word<T>::read(detail::feb_operation::read_fe, w, limit.get());
}
template <word T> [[nodiscard]] std::optional<T> try_read_fe(T& w) {
    return detail::feb_word<T>::read(detail::feb_operation::read_fe, w, 0);
}
template <word T, class Rep, class Period>
[[nodiscard]] std::optional<T> try_read_fe_for(T& w,
                                               std::chrono::duration<Rep, Period> const& timeout) {
    return read_fe(w, wait_limit(timeout));
}
template <word T, class Clock, class Duration>
[[nodiscard]] std::optional<T>
try_read_fe_until(T& w, std::chrono::time_point<Clock, Duration> const& deadline) {
    return read_fe(w, wait_limit(deadline));
}

// Writes, and leaves it full.
template <word T> void write_ff(T& w, std::type_identity_t<T> value) {
    static_cast<void>(detail::feb_word<T>::write(detail::feb_operation::write_ff, w, value,
                                                 detail::k_no_deadline));
}
template <word T>
[[nodiscard]] bool write_ff(T& w, std::type_identity_t<T> value, wait_limit const& limit) {
    return detail::feb_word<T>::write(detail::feb_operation::write_ff, w, value, limit.get());
}
template <word T> [[nodiscard]] bool try_write_ff(T& w, std::type_identity_t<T> value) {
    return detail::feb_word<T>::write(detail::feb_operation::write_ff, w, value, 0);
}
template <word T, class Rep, class Period>
[[nodiscard]] bool try_write_ff_for(T& w, std::type_identity_t<T> value,
                                    std::chrono::duration<Rep, Period> const& timeout) {
    return write_ff(w, value, wait_limit(timeout));
}
template <word T, class Clock, class Duration>
[[nodiscard]] bool try_write_ff_until(T& w, std::type_identity_t<T> value,
                                      std::chrono::time_point<Clock, Duration> const& deadline) {
    return write_ff(w, value, wait_limit(deadline));
}

// --- waits until it is empty ---------------------------------------------------------------------

// Writes, and makes it full.
template <word T> void write_ef(T& w, std::type_identity_t<T> value) noexcept {
    using as = detail::feb_word<T>;
    as::calls::write_ef(as::of(w), std::bit_cast<typename as::bits>(value));
}
template <word T>
[[nodiscard]] bool write_ef(T& w, std::type_identity_t<T> value, wait_limit const& limit) {
    return detail::feb_word<T>::write(detail::feb_operation::write_ef, w, value, limit.get());
}
template <word T> [[nodiscard]] bool try_write_ef(T& w, std::type_identity_t<T> value) {
    return detail::feb_word<T>::write(detail::feb_operation::write_ef, w, value, 0);
}
template <word T, class Rep, class Period>
[[nodiscard]] bool try_write_ef_for(T& w, std::type_identity_t<T> value,
                                    std::chrono::duration<Rep, Period> const& timeout) {
    return write_ef(w, value, wait_limit(timeout));
}
template <word T, class Clock, class Duration>
[[nodiscard]] bool try_write_ef_until(T& w, std::type_identity_t<T> value,
                                      std::chrono::time_point<Clock, Duration> const& deadline) {
    return write_ef(w, value, wait_limit(deadline));
}

} // namespace tulle::feb

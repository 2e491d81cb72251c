// SPDX-License-Identifier: Apache-2.0
// A value with a full/empty state beside it: the operations of <tulle/feb.hpp> on an object of its
// own, of any type, without a table. Contexts: any thread of the process. What each operation does
// in each state: src/sync/full_empty.md.
#pragma once

#include <tulle/detail/chrono.hpp>
#include <tulle/detail/deadline.hpp>
#include <tulle/detail/full_empty_front.hpp>
#include <tulle/schedule_point.hpp>
#include <tulle/thread.hpp>
#include <tulle/wait_limit.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace tulle {

namespace detail {

// How the value of a full_empty<T> is read and written: as one word where it is one, so that
// read_ff needs no lock.
template <class T> struct full_empty_value {
    static constexpr bool k_is_word =
        std::is_trivially_copyable_v<T> &&
        (sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8);
    static constexpr std::size_t k_alignment = k_is_word ? sizeof(T) : alignof(T);

    // acquire and release pair with each other.
    TULLE_INLINE static void copy_out(T const& object, T& buffer) noexcept {
        if constexpr (k_is_word)
            __atomic_load(&object, &buffer, __ATOMIC_ACQUIRE);
        else
            buffer = object;
    }
    TULLE_INLINE static void move_out(T& object, T& buffer) noexcept {
        if constexpr (k_is_word)
            copy_out(object, buffer);
        else
            buffer = std::move(object);
    }
    TULLE_INLINE static void copy_in(T& object, T const& buffer) noexcept {
        if constexpr (k_is_word) {
            T value = buffer;
            __atomic_store(&object, &value, __ATOMIC_RELEASE);
        } else {
            object = buffer;
        }
    }
    TULLE_INLINE static void move_in(T& object, T& buffer) noexcept {
        if constexpr (k_is_word)
            copy_in(object, buffer);
        else
            object = std::move(buffer);
    }

    static constexpr value_operations operations() noexcept {
        value_operations all{};
        if constexpr (std::is_copy_assignable_v<T>) {
            all.copy_out = [](void const* o, void* p) noexcept {
                copy_out(*static_cast<T const*>(o), *static_cast<T*>(p));
            };
            all.copy_in = [](void* o, void const* p) noexcept {
                copy_in(*static_cast<T*>(o), *static_cast<T const*>(p));
            };
            all.pass = [](void* target, void const* source) noexcept {
                *static_cast<T*>(target) = *static_cast<T const*>(source);
            };
        }
        all.move_out = [](void* o, void* p) noexcept {
            move_out(*static_cast<T*>(o), *static_cast<T*>(p));
        };
        all.move_in = [](void* o, void* p) noexcept {
            move_in(*static_cast<T*>(o), *static_cast<T*>(p));
        };
        return all;
    }
    static constexpr value_operations k_operations = operations();
};

} // namespace detail

// A new one is empty; one that is made with a value is full. Waiters are served as those of
// full/empty words are.
// T: default constructible; moved without exceptions, and copied without exceptions for read_ff and
// read_xx. Values are moved and copied with the state locked, so that must be brief and must not
// use this object. An empty one keeps a value: what was moved from, or, of a trivially copyable
// type, what was there.
// Memory ordering: as for full/empty words. Destruction: allowed as soon as no operation is in
// progress, nor will be; one that has made it full or empty, as others have seen, does not touch it
// any more.
template <class T> class full_empty {
    static_assert(std::is_default_constructible_v<T> && std::is_nothrow_move_constructible_v<T> &&
                  std::is_nothrow_move_assignable_v<T>);
    static constexpr bool k_can_copy =
        std::is_nothrow_copy_constructible_v<T> && std::is_nothrow_copy_assignable_v<T>;

public:
    constexpr full_empty() = default;
    // A full one.
    explicit full_empty(T value) noexcept : m_value(std::move(value)) {
        // relaxed: before it is shared
        m_front.state.store(front::k_full, std::memory_order_relaxed);
    }
    full_empty(full_empty const&) = delete;
    full_empty& operator=(full_empty const&) = delete;

    // Whether it is full; another thread may have changed that since.
    [[nodiscard]] bool is_full() const noexcept {
        schedule_point();
        auto const now = m_front.state.load(std::memory_order_acquire); // pairs with the unlock
        return front::is_full(now) || (!front::is_empty(now) && detail::is_full_slow(m_front));
    }
    // The numbers of the threads that wait for it; 0 for a forked thread that has none. A snapshot,
    // for human-readable output.
    [[nodiscard]] std::vector<thread_id> waiting() const {
        std::vector<thread_id> ids(detail::full_empty_waiting(m_front, nullptr, 0));
        ids.resize(
            std::min(ids.size(), detail::full_empty_waiting(m_front, ids.data(), ids.size())));
        return ids;
    }

    // --- without waiting -------------------------------------------------------------------------
    // Full as it is.
    void fill() noexcept {
        T scratch{};
        static_cast<void>(apply(operation::fill, scratch, 0));
    }
    // Empty; a value stays in it until somebody writes.
    void empty() noexcept {
        T scratch{};
        static_cast<void>(apply(operation::empty, scratch, 0));
    }
    // Writes, and makes it empty.
    void purge(T value = T{}) noexcept { static_cast<void>(apply(operation::purge, value, 0)); }
    // Writes, and makes it full.
    void write_f(T value) noexcept { static_cast<void>(apply(operation::write_f, value, 0)); }
    // What is in it, full or empty.
    [[nodiscard]] T read_xx() const noexcept requires k_can_copy {
        schedule_point();
        T value{};
        auto const before = unconst().lock();
        values::copy_out(m_value, value);
        unconst().unlock(before);
        return value;
    }

    // --- waits until it is full: read_ff and write_ff leave it full, read_fe makes it empty ------
    // Waits until it is full, copies the value, and leaves it full.
    [[nodiscard]] TULLE_INLINE T read_ff() const noexcept requires k_can_copy {
        schedule_point();
        T value{};
        if (values::k_is_word &&
            TULLE_LIKELY(unconst().read_unlocked([&] { values::copy_out(m_value, value); })))
            return value;
        static_cast<void>(apply_cold(operation::read_ff, value, detail::k_no_deadline));
        return value;
    }
    // With a limit, here and below: nothing, or false, when it was reached.
    [[nodiscard]] std::optional<T>
    read_ff(wait_limit const& limit) const noexcept requires k_can_copy {
        return read(operation::read_ff, limit.get());
    }
    [[nodiscard]] std::optional<T> try_read_ff() const noexcept requires k_can_copy {
        return read(operation::read_ff, 0);
    }
    template <class Rep, class Period>
    [[nodiscard]] std::optional<T>
    try_read_ff_for(std::chrono::duration<Rep, Period> const& timeout) const requires k_can_copy {
        return read(operation::read_ff, detail::deadline_after(timeout));
    }
    template <class Clock, class Duration>
    [[nodiscard]] std::optional<T> try_read_ff_until(
        std::chrono::time_point<Clock, Duration> const& deadline) const requires k_can_copy {
        return read(operation::read_ff, detail::deadline_at(deadline));
    }

    // Waits until it is full, moves the value out, and makes it empty.
    TULLE_INLINE T read_fe() noexcept {
        schedule_point();
        T value{};
        if (TULLE_UNLIKELY(m_front.looks_empty())) {
            detail::wait_full_empty(m_front, &m_value, values::k_operations, operation::read_fe,
                                    &value);
            return value;
        }
        auto const before = m_front.lock();
        if (TULLE_LIKELY(front::is_full(before))) {
            values::move_out(m_value, value);
            m_front.unlock(front::emptied(before));
        } else {
            static_cast<void>(
                apply_locked(before, operation::read_fe, value, detail::k_no_deadline));
        }
        return value;
    }
    // The forms of read_fe() with a limit: nothing when that was reached.
    [[nodiscard]] std::optional<T> read_fe(wait_limit const& limit) noexcept {
        return read(operation::read_fe, limit.get());
    }
    [[nodiscard]] std::optional<T> try_read_fe() noexcept { return read(operation::read_fe, 0); }
    template <class Rep, class Period>
    [[nodiscard]] std::optional<T>
    try_read_fe_for(std::chrono::duration<Rep, Period> const& timeout) {
        return read(operation::read_fe, detail::deadline_after(timeout));
    }
    template <class Clock, class Duration>
    [[nodiscard]] std::optional<T>
    try_read_fe_until(std::chrono::time_point<Clock, Duration> const& deadline) {
        return read(operation::read_fe, detail::deadline_at(deadline));
    }

    // Waits until it is full, writes, and leaves it full.
    void write_ff(T value) noexcept {
        static_cast<void>(apply(operation::write_ff, value, detail::k_no_deadline));
    }
    // The forms that may fail, here and below, take a value that they leave as it is when they
    // fail, if it is an rvalue of T.
    template <class U> [[nodiscard]] bool write_ff(U&& value, wait_limit const& limit) {
        return write(operation::write_ff, std::forward<U>(value), limit.get());
    }
    template <class U> [[nodiscard]] bool try_write_ff(U&& value) {
        return write(operation::write_ff, std::forward<U>(value), 0);
    }
    template <class U, class Rep, class Period>
    [[nodiscard]] bool try_write_ff_for(U&& value,
                                        std::chrono::duration<Rep, Period> const& timeout) {
        return write(operation::write_ff, std::forward<U>(value), detail::deadline_after(timeout));
    }
    template <class U, class Clock, class Duration>
    [[nodiscard]] bool
    try_write_ff_until(U&& value, std::chrono::time_point<Clock, Duration> const& deadline) {
        return write(operation::write_ff, std::forward<U>(value), detail::deadline_at(deadline));
    }

    // --- waits until it is empty, writes, and makes it full --------------------------------------
    // Waits until it is empty, writes, and makes it full.
    TULLE_INLINE void write_ef(T value) noexcept {
        schedule_point();
        if (TULLE_UNLIKELY(m_front.looks_full()))
            return detail::wait_full_empty(m_front, &m_value, values::k_operations,
                                           operation::write_ef, &value);
        auto const before = m_front.lock();
        if (TULLE_LIKELY(front::is_empty(before))) {
            values::move_in(m_value, value);
            m_front.unlock(front::filled(before));
        } else {
            static_cast<void>(
                apply_locked(before, operation::write_ef, value, detail::k_no_deadline));
        }
    }
    // The forms of write_ef() with a limit.
    template <class U> [[nodiscard]] bool write_ef(U&& value, wait_limit const& limit) {
        return write(operation::write_ef, std::forward<U>(value), limit.get());
    }
    template <class U> [[nodiscard]] bool try_write_ef(U&& value) {
        return write(operation::write_ef, std::forward<U>(value), 0);
    }
    template <class U, class Rep, class Period>
    [[nodiscard]] bool try_write_ef_for(U&& value,
                                        std::chrono::duration<Rep, Period> const& timeout) {
        return write(operation::write_ef, std::forward<U>(value), detail::deadline_after(timeout));
    }
    template <class U, class Clock, class Duration>
    [[nodiscard]] bool
    try_write_ef_until(U&& value, std::chrono::time_point<Clock, Duration> const& deadline) {
        return write(operation::write_ef, std::forward<U>(value), detail::deadline_at(deadline));
    }

private:
    using front = detail::full_empty_front;
    using operation = detail::feb_operation;
    using values = detail::full_empty_value<T>;

    // Reading waits and checks the state as other operations do; the value stays.
    [[nodiscard]] front& unconst() const noexcept { return const_cast<front&>(m_front); }

    bool apply_locked(front::value before, operation what, T& buffer,
                      detail::limit until) const noexcept {
        return detail::apply_full_empty(unconst(), before, const_cast<T*>(&m_value),
                                        values::k_operations, what, &buffer, until);
    }
    bool apply_cold(operation what, T& buffer, detail::limit until) const noexcept {
        auto const before = unconst().lock();
        return apply_locked(before, what, buffer, until);
    }
    bool apply(operation what, T& buffer, detail::limit until) const noexcept {
        schedule_point();
        return apply_cold(what, buffer, until);
    }
    std::optional<T> read(operation what, detail::limit until) const noexcept {
        T value{};
        if (!apply(what, value, until)) return std::nullopt;
        return std::optional<T>(std::move(value));
    }
    template <class U> bool write(operation what, U&& value, detail::limit until) {
        if constexpr (std::is_same_v<U, T>) {
            return apply(what, value, until);
        } else {
            T copy(std::forward<U>(value));
            return apply(what, copy, until);
        }
    }

    detail::full_empty_front m_front;
    alignas(values::k_alignment) T m_value{};
};

} // namespace tulle

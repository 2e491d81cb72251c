// SPDX-License-Identifier: Apache-2.0
// Queues of items between threads, with a bound, without one, or without a buffer; and waiting for
// several at once (<tulle/select.hpp>). What comes of a call is a channel_status
// (<tulle/detail/channel_calls.hpp>): success, closed or not_ready.
// Contexts: any thread of the process.
#pragma once

#include <tulle/detail/channel_calls.hpp>
#include <tulle/detail/chrono.hpp>
#include <tulle/detail/deadline.hpp>
#include <tulle/wait_limit.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

namespace tulle {

// The type of `unbounded`.
struct unbounded_t {
    explicit unbounded_t() = default;
};
// In place of a capacity: a channel without a bound.
inline constexpr unbounded_t unbounded{};

namespace detail {

template <class T> struct items_of {
    static void move(void* target, void* source, std::size_t /*size*/) noexcept {
        ::new (target) T(std::move(*std::launder(static_cast<T*>(source))));
    }
    static void destroy(void* item, std::size_t /*size*/) noexcept {
        std::launder(static_cast<T*>(item))->~T();
    }
    static constexpr item_type k_type{sizeof(T), alignof(T), &move, &destroy};
};

// Storage for an item that may come.
template <class T> class item_slot {
public:
    [[nodiscard]] void* storage() noexcept { return m_bytes; }
    // After it has come; once.
    [[nodiscard]] T take() noexcept {
        T* const item = std::launder(reinterpret_cast<T*>(m_bytes));
        T taken(std::move(*item));
        item->~T();
        return taken;
    }

private:
    alignas(T) std::byte m_bytes[sizeof(T)];
};

} // namespace detail

// Items arrive in the order in which they were sent; each arrives once, at one receiver. Senders
// and receivers that wait are served first come, first served. T is moved inside the channel, by
// whichever of the threads comes second, and its move constructor must neither throw nor wait.
// Close: sends fail from then on, receivers get what is left and then fail, too; those that wait go
// on at once.
// Memory ordering: what happens before an item is sent happens before it is received; what happens
// before close() happens before calls return `closed`. With a capacity of 0, what happens before a
// receive happens before the return of the send that it takes the item of.
// Destruction: no call may be in progress. Items that are left are destroyed.
template <class T> class channel {
    static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_destructible_v<T>);

public:
    using value_type = T;

    // 0: a sender waits until its item is received. Errors: std::bad_alloc.
    explicit channel(std::size_t capacity)
        : m_core(detail::open_channel(detail::items_of<T>::k_type, capacity)) {}
    // Sends never wait, but may throw std::bad_alloc, with nothing done.
    explicit channel(unbounded_t /*tag*/) : channel(detail::k_unbounded) {}
    channel(channel const&) = delete;
    channel& operator=(channel const&) = delete;
    ~channel() { detail::destroy_channel(m_core); }

    // success or closed. If it is not sent, the item is destroyed: send_case keeps it.
    channel_status send(T item) { return detail::send(*m_core, &item, detail::k_no_deadline); }
    // These leave the item as it is if it is not sent. not_ready: there was no room, before the
    // limit was reached.
    [[nodiscard]] channel_status try_send(T&& item) {
        return detail::send(*m_core, &item, std::uint64_t{0});
    }
    [[nodiscard]] channel_status try_send(T const& item) {
        T copy(item);
        return try_send(std::move(copy));
    }
    [[nodiscard]] channel_status send(T&& item, wait_limit const& limit) {
        return detail::send(*m_core, &item, limit.get());
    }
    [[nodiscard]] channel_status send(T const& item, wait_limit const& limit) {
        T copy(item);
        return send(std::move(copy), limit);
    }
    template <class U, class Rep, class Period>
    [[nodiscard]] channel_status send_for(U&& item,
                                          std::chrono::duration<Rep, Period> const& timeout) {
        return send(std::forward<U>(item), wait_limit(timeout));
    }
    template <class U, class Clock, class Duration>
    [[nodiscard]] channel_status
    send_until(U&& item, std::chrono::time_point<Clock, Duration> const& deadline) {
        return send(std::forward<U>(item), wait_limit(deadline));
    }

    // Waits for an item. Null: it is closed, and none is left.
    [[nodiscard]] std::optional<T> receive() noexcept {
        std::optional<T> item;
        static_cast<void>(receive_into(item, detail::k_no_deadline));
        return item;
    }
    // Null: none before the limit was reached, or closed; `status`, if wanted, tells.
    [[nodiscard]] std::optional<T> try_receive(channel_status* status = nullptr) noexcept {
        return receive_before(std::uint64_t{0}, status);
    }
    [[nodiscard]] std::optional<T> receive(wait_limit const& limit,
                                           channel_status* status = nullptr) noexcept {
        return receive_before(limit.get(), status);
    }
    template <class Rep, class Period>
    [[nodiscard]] std::optional<T> receive_for(std::chrono::duration<Rep, Period> const& timeout,
                                               channel_status* status = nullptr) {
        return receive_before(detail::deadline_after(timeout), status);
    }
    template <class Clock, class Duration>
    [[nodiscard]] std::optional<T>
    receive_until(std::chrono::time_point<Clock, Duration> const& deadline,
                  channel_status* status = nullptr) {
        return receive_before(detail::deadline_at(deadline), status);
    }

    // False: it was closed already.
    bool close() noexcept { return detail::close_channel(*m_core); }
    // Whether close() was called; items may be left.
    [[nodiscard]] bool is_closed() const noexcept { return detail::is_closed(*m_core); }
    // A snapshot.
    [[nodiscard]] std::size_t size() const noexcept { return detail::channel_size(*m_core); }

    // Receives until it is closed and empty: for (T item : channel).
    class iterator {
    public:
        using iterator_category = std::input_iterator_tag;
        using value_type = T;
        using difference_type = std::ptrdiff_t;
        using pointer = T*;
        using reference = T&;

        iterator() noexcept = default;
        explicit iterator(channel& source) noexcept : m_from(&source) { ++*this; }
        [[nodiscard]] T& operator*() noexcept { return *m_item; }
        [[nodiscard]] T* operator->() noexcept { return &*m_item; }
        iterator& operator++() noexcept {
            m_item.reset();
            static_cast<void>(m_from->receive_into(m_item, detail::k_no_deadline));
            return *this;
        }
        [[nodiscard]] friend bool operator==(iterator const& a,
                                             std::default_sentinel_t /*end*/) noexcept {
            return !a.m_item;
        }

    private:
        channel* m_from = nullptr;
        std::optional<T> m_item;
    };
    [[nodiscard]] iterator begin() noexcept { return iterator(*this); }
    [[nodiscard]] std::default_sentinel_t end() const noexcept { return {}; }

private:
    template <class> friend class receive_case;
    template <class> friend class send_case;

    [[nodiscard]] channel_status receive_into(std::optional<T>& item,
                                              detail::limit until) noexcept {
        detail::item_slot<T> slot;
        channel_status const status = detail::receive(*m_core, slot.storage(), until);
        if (status == channel_status::success) item.emplace(slot.take());
        return status;
    }
    [[nodiscard]] std::optional<T> receive_before(detail::limit until,
                                                  channel_status* status) noexcept {
        std::optional<T> item;
        channel_status const how = receive_into(item, until);
        if (status != nullptr) *status = how;
        return item;
    }

    detail::channel_core* const m_core;
};

} // namespace tulle

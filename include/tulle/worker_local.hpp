// SPDX-License-Identifier: Apache-2.0
// One value for each worker, and for each foreign OS thread that uses Tulle: for sums, caches and
// buffers that many threads share without sharing a cache line. As the enumerable_thread_specific
// of oneTBB, and what a reducer of Cilk keeps for each worker.
#pragma once

#include <tulle/detail/attributes.hpp>

#include <cstddef>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>

namespace tulle {

namespace detail {

struct local_table; // slots, by the number of a worker

// Throws std::bad_alloc. `alignment`: of a value; each gets cache lines of its own.
[[nodiscard]] TULLE_API local_table* make_local_table(std::size_t size, std::size_t alignment);
TULLE_API void free_local_table(local_table* t, void (*destroy)(void*)) noexcept;
TULLE_API void clear_local_table(local_table* t, void (*destroy)(void*)) noexcept;
// The caller's value, made by construct(context, where) at the first use. Throws what that throws,
// and std::bad_alloc.
[[nodiscard]] TULLE_API void* local_value(local_table* t, void (*construct)(void const*, void*),
                                          void const* context, void (*destroy)(void*));
// Slots from `index` on: the first that has a value; the number of slots if there is none.
[[nodiscard]] TULLE_API std::size_t next_local(local_table const* t, std::size_t index) noexcept;
// null: no value yet
[[nodiscard]] TULLE_API void* local_at(local_table const* t, std::size_t index) noexcept;

} // namespace detail

// local() is the value of the worker that the calling thread is on. Threads are not preempted:
// between two waits (a join, a lock, a yield, anything of Tulle's that may wait) nobody else uses
// it. After a wait the thread may be on another worker, so ask again; and other threads of this
// worker may have used it meanwhile.
// A value lives as long as the object, also over the end of a foreign thread, whose value the next
// foreign thread gets, and over finalize().
// Iterating and combine() see all values that have been made. They and clear() are for when nobody
// else uses the object: after the joins.
// Contexts: any thread of the process; local() makes an OS thread that Tulle does not know a guest.
template <class T> class worker_local {
    template <bool Const> class basic_iterator {
    public:
        using iterator_category = std::forward_iterator_tag;
        using value_type = T;
        using difference_type = std::ptrdiff_t;
        using reference = std::conditional_t<Const, T const&, T&>;
        using pointer = std::conditional_t<Const, T const*, T*>;

        basic_iterator() noexcept = default;
        [[nodiscard]] reference operator*() const noexcept {
            return *static_cast<pointer>(detail::local_at(m_table, m_index));
        }
        [[nodiscard]] pointer operator->() const noexcept { return &**this; }
        basic_iterator& operator++() noexcept {
            m_index = detail::next_local(m_table, m_index + 1);
            return *this;
        }
        basic_iterator operator++(int) noexcept {
            return std::exchange(*this, basic_iterator(m_table, m_index + 1));
        }
        friend bool operator==(basic_iterator const&, basic_iterator const&) noexcept = default;

    private:
        friend class worker_local;
        basic_iterator(detail::local_table const* t, std::size_t from) noexcept
            : m_table(t), m_index(detail::next_local(t, from)) {}

        detail::local_table const* m_table = nullptr;
        std::size_t m_index = 0;
    };

public:
    using value_type = T;
    using iterator = basic_iterator<false>;
    using const_iterator = basic_iterator<true>;

    // Values are made by T(). Errors: std::bad_alloc.
    worker_local() requires std::is_default_constructible_v<T> : worker_local([] { return T(); }) {}
    // Values are copies of `first`.
    explicit worker_local(T const& first) requires std::is_copy_constructible_v<T>
        : worker_local([first] { return T(first); }) {}
    // Values are made by make(), at the first use of local() on each worker.
    template <class Make>
    requires std::is_invocable_r_v<T, Make const&> &&
        (!std::is_same_v<std::decay_t<Make>, T>)explicit worker_local(Make make)
        : m_maker(new maker<Make>(std::move(make))),
          m_table(detail::make_local_table(sizeof(T), alignof(T))) {}
    ~worker_local() { detail::free_local_table(m_table, &destroy); }
    worker_local(worker_local const&) = delete;
    worker_local& operator=(worker_local const&) = delete;

    // Errors: what the making of a T throws; std::bad_alloc.
    [[nodiscard]] T& local() {
        return *static_cast<T*>(detail::local_value(m_table, &construct, m_maker.get(), &destroy));
    }

    [[nodiscard]] iterator begin() noexcept { return {m_table, 0}; }
    [[nodiscard]] iterator end() noexcept { return {m_table, static_cast<std::size_t>(-1)}; }
    [[nodiscard]] const_iterator begin() const noexcept { return {m_table, 0}; }
    [[nodiscard]] const_iterator end() const noexcept {
        return {m_table, static_cast<std::size_t>(-1)};
    }
    // How many values have been made.
    [[nodiscard]] std::size_t size() const noexcept {
        return static_cast<std::size_t>(std::distance(begin(), end()));
    }
    // Whether none has been made.
    [[nodiscard]] bool empty() const noexcept { return begin() == end(); }

    // operation(operation(a, b), c)... of all values, in no particular order; a freshly made value
    // if there is none.
    template <class Operation> [[nodiscard]] T combine(Operation operation) const {
        const_iterator it = begin();
        if (it == end()) return m_maker->make();
        T result = *it;
        for (++it; it != end(); ++it) result = operation(std::as_const(result), *it);
        return result;
    }
    // Destroys the values; local() makes new ones.
    void clear() noexcept { detail::clear_local_table(m_table, &destroy); }

private:
    struct any_maker {
        virtual ~any_maker() = default;
        [[nodiscard]] virtual T make() const = 0;
        virtual void make_at(void* storage) const = 0;
    };
    template <class Make> struct maker final : any_maker {
        explicit maker(Make&& f) : function(std::move(f)) {}
        [[nodiscard]] T make() const override { return function(); }
        void make_at(void* storage) const override { ::new (storage) T(function()); }
        Make function;
    };
    static void construct(void const* context, void* storage) {
        static_cast<any_maker const*>(context)->make_at(storage);
    }
    static void destroy(void* value) { static_cast<T*>(value)->~T(); }

    std::unique_ptr<any_maker const> m_maker;
    detail::local_table* m_table;
};

} // namespace tulle

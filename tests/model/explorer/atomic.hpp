// SPDX-License-Identifier: Apache-2.0
//
// The types that stand for std::atomic, plain variables, fences and futexes in a model test. The
// interface is that of std::atomic without its defaults: each access names its order.
#pragma once

#include "execution.hpp"
#include "source_location.hpp"

#include <atomic>
#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace tulle::model {

template <class T>
concept word = std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(std::uint64_t);

template <word T> [[nodiscard]] std::uint64_t to_bits(T value) noexcept {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return bits;
}

template <word T> [[nodiscard]] T from_bits(std::uint64_t bits) noexcept {
    T value{};
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

/// Integer, pointer, enumeration or bool, of at most 8 bytes.
template <word T> class atomic {
    using where = source_location;
    using difference = std::conditional_t<std::is_pointer_v<T>, std::ptrdiff_t, T>;

public:
    using value_type = T;
    static constexpr bool is_always_lock_free = true;

    atomic() : atomic(T{}) {}
    atomic(T value, where at = where::current())
        : m_location(execution::current().create(to_bits(value))), m_made(at) {}
    ~atomic() {
        if (execution::is_running()) execution::current().destroy(m_location, m_made);
    }
    atomic(atomic const&) = delete;
    atomic& operator=(atomic const&) = delete;

    [[nodiscard]] T load(memory_order o, where at = where::current()) const noexcept {
        return from_bits<T>(execution::current().load(m_location, o, at));
    }
    void store(T value, memory_order o, where at = where::current()) noexcept {
        execution::current().store(m_location, to_bits(value), o, at);
    }
    T exchange(T value, memory_order o, where at = where::current()) noexcept {
        return modify([value](T) { return value; }, o, at);
    }
    bool compare_exchange_strong(T& expected, T desired, memory_order success, memory_order failure,
                                 where at = where::current()) noexcept {
        return compare_exchange(expected, desired, {0, 0, success, failure, false}, at);
    }
    bool compare_exchange_weak(T& expected, T desired, memory_order success, memory_order failure,
                               where at = where::current()) noexcept {
        return compare_exchange(expected, desired, {0, 0, success, failure, true}, at);
    }
    bool compare_exchange_strong(T& expected, T desired, memory_order o,
                                 where at = where::current()) noexcept {
        return compare_exchange_strong(expected, desired, o, failure_order(o), at);
    }
    bool compare_exchange_weak(T& expected, T desired, memory_order o,
                               where at = where::current()) noexcept {
        return compare_exchange_weak(expected, desired, o, failure_order(o), at);
    }
    T fetch_add(difference by, memory_order o, where at = where::current()) noexcept {
        return modify([by](T old) { return static_cast<T>(old + by); }, o, at);
    }
    T fetch_sub(difference by, memory_order o, where at = where::current()) noexcept {
        return modify([by](T old) { return static_cast<T>(old - by); }, o, at);
    }
    T fetch_or(T bits, memory_order o, where at = where::current()) noexcept {
        return modify([bits](T old) { return static_cast<T>(old | bits); }, o, at);
    }
    T fetch_and(T bits, memory_order o, where at = where::current()) noexcept {
        return modify([bits](T old) { return static_cast<T>(old & bits); }, o, at);
    }
    T fetch_xor(T bits, memory_order o, where at = where::current()) noexcept {
        return modify([bits](T old) { return static_cast<T>(old ^ bits); }, o, at);
    }
    [[nodiscard]] bool is_lock_free() const noexcept { return true; }
    /// For futexes.
    [[nodiscard]] location_index location() const noexcept { return m_location; }

private:
    static constexpr memory_order failure_order(memory_order o) noexcept {
        if (o == std::memory_order_acq_rel) return std::memory_order_acquire;
        return o == std::memory_order_release ? std::memory_order_relaxed : o;
    }
    template <class Change> T modify(Change change, memory_order o, where const& at) noexcept {
        auto const on_bits = [change](std::uint64_t old) {
            return to_bits<T>(change(from_bits<T>(old)));
        };
        return from_bits<T>(execution::current().modify(m_location, on_bits, o, at));
    }
    bool compare_exchange(T& expected, T desired, memory::exchange_request request,
                          where const& at) noexcept {
        request.expected = to_bits(expected);
        request.desired = to_bits(desired);
        auto const result = execution::current().compare_exchange(m_location, request, at);
        if (!result.done) expected = from_bits<T>(result.seen);
        return result.done;
    }

    location_index m_location;
    where m_made;
};

/// A variable without atomic access: two accesses that neither happens before the other are
/// reported, if one is a write.
template <class T> class plain {
    using where = source_location;

public:
    plain(where at = where::current()) : m_value() { wrote(at); }
    explicit plain(T value, where at = where::current()) : m_value(std::move(value)) { wrote(at); }
    ~plain() {
        if (execution::is_running()) wrote(where::current());
        // volatile: nothing that conforms reads it afterwards
        const_cast<std::uint32_t volatile&>(m_mark) = 0;
    }
    plain(plain const&) = delete;
    plain& operator=(plain const&) = delete;

    [[nodiscard]] T load(where at = where::current()) const {
        expect_exists(at);
        execution::current().plain_read(m_record, at);
        return m_value;
    }
    void store(T value, where at = where::current()) {
        expect_exists(at);
        wrote(at);
        m_value = std::move(value);
    }

private:
    static constexpr std::uint32_t k_exists = 0x70'1A'1E'55;

    // A pointer into a frame that has ended leads to whatever is there now, which hardly is the
    // mark.
    void expect_exists(where const& at) const {
        if (m_mark != k_exists)
            execution::current().fail_at("access to a plain variable that does not exist", at);
    }
    void wrote(where const& at) { execution::current().plain_write(m_record, at); }

    std::uint32_t m_mark = k_exists;
    T m_value;
    mutable access_record m_record;
};

inline void fence(memory_order o, source_location at = source_location::current()) noexcept {
    execution::current().fence(o, at);
}
/// A seq_cst fence on every thread, the caller first and last, the others in between at a moment
/// each.
inline void membarrier(source_location at = source_location::current()) noexcept {
    execution::current().heavy_fence(at);
}
/// Program order is all the model's threads have; stale reads come from the memory, so this orders
/// nothing.
inline void compiler_barrier() noexcept {}
inline void spin_hint() noexcept { execution::current().spin_hint(); }

inline constexpr std::uint64_t k_no_deadline = ~std::uint64_t{0};

/// Sleeps while the word holds `expected`. False: the deadline has passed, which may happen at any
/// moment if there is one.
/// True says nothing: woken, not asleep at all, or for no reason.
inline bool futex_wait(atomic<std::uint32_t>& word, std::uint32_t expected,
                       std::uint64_t deadline_ns = k_no_deadline,
                       source_location at = source_location::current()) noexcept {
    return execution::current().futex_wait(word.location(), expected, deadline_ns != k_no_deadline,
                                           at);
}
inline void futex_wake(atomic<std::uint32_t>& word, int count,
                       source_location at = source_location::current()) noexcept {
    execution::current().futex_wake(word.location(), count, at);
}

/// Fails the execution if the condition does not hold.
inline void check(bool condition, char const* what,
                  source_location at = source_location::current()) {
    if (condition) return;
    execution::current().fail(std::string("check failed: ") + what + " (thread " +
                              std::to_string(execution::current().running()) + ", " +
                              std::string(file_name(at)) + ":" + std::to_string(at.line()) + ")");
}

/// The counterpart of base::machine and os::machine.
struct machine {
    template <class T> using atomic = model::atomic<T>;
    template <class T> using plain = model::plain<T>;
    using where = source_location;

    template <memory_order Order, class T>
    static T load(atomic<T> const& word, where at = where::current()) noexcept {
        return word.load(Order, at);
    }
    template <memory_order Order, class T>
    static void store(atomic<T>& word, std::type_identity_t<T> value,
                      where at = where::current()) noexcept {
        word.store(value, Order, at);
    }

    static void compiler_barrier() noexcept { model::compiler_barrier(); }
    static void fence(memory_order o, where at = where::current()) noexcept { model::fence(o, at); }
    static void fence_seq_cst(where at = where::current()) noexcept {
        model::fence(std::memory_order_seq_cst, at);
    }
    static bool exchange_and_fence(atomic<std::uint32_t>& word, std::uint32_t expected,
                                   std::uint32_t wanted, where at = where::current()) noexcept {
        if (!word.compare_exchange_strong(expected, wanted, std::memory_order_relaxed,
                                          std::memory_order_relaxed, at))
            return false;
        fence_seq_cst(at);
        return true;
    }
    static void pause() noexcept { spin_hint(); }
    static void yield_processor() noexcept { spin_hint(); }
    static void heavy_fence(where at = where::current()) noexcept { membarrier(at); }
    static bool futex_wait(atomic<std::uint32_t>& word, std::uint32_t expected,
                           std::uint64_t deadline_ns = k_no_deadline,
                           where at = where::current()) noexcept {
        return model::futex_wait(word, expected, deadline_ns, at);
    }
    static void futex_wake(atomic<std::uint32_t>& word, int count,
                           where at = where::current()) noexcept {
        model::futex_wake(word, count, at);
    }
};

} // namespace tulle::model

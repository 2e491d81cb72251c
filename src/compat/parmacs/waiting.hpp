// SPDX-License-Identifier: Apache-2.0
// Objects in global memory on which processes wait. Each is a few words and a list of those that
// wait, behind a spin lock. A process that may go on is taken off the list by the one that makes
// that so, which tells it by a message. So nothing needs a worker of another place, and what need
// not wait sends nothing. Global memory lies at the same address in all processes; of what it holds
// only `signal` means something to one alone.
#pragma once

#include "base/spin_lock.hpp"
#include "compat/parmacs/barrier_core.hpp"
#include "compat/parmacs/lock_core.hpp"
#include "compat/parmacs/lock_machine.hpp"
#include "os/machine.hpp"

#include <tulle/c/sync.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

namespace tulle::parmacs {

// What a process waits for.
enum class wish : std::uint32_t {
    set_already, // a value that is not 0
    to_clear,    // likewise, and makes it 0
    to_set,      // 0, and makes it 1: to announce an event
    to_take,     // at least an amount, and takes that away
};

struct waiter : lock_entry<lock_machine> {
    waiter* next = nullptr;
    tulle_signal_t* signal = nullptr; // at its place
    std::int32_t place = 0;
    wish what = wish::set_already;
    std::int64_t amount = 0;
    // Of a lock over machines (sync/machine_lock.hpp):
    std::int32_t machine = 0; // its first place
    os::machine::plain<bool> stays{false};
    os::machine::plain<bool> is_wanted{false};
};

// So many bytes of a cache line of its own in global memory, of zeros; it is not given back. Ends
// the program if there is none.
inline constexpr std::size_t k_line = 64;
[[nodiscard]] void* new_line() noexcept;
// More than that, of this place if there are other machines.
[[nodiscard]] void* new_zeros(std::size_t bytes) noexcept;
template <class T> [[nodiscard]] T* new_shared() noexcept {
    static_assert(sizeof(T) <= k_line);
    return ::new (new_line()) T;
}

// Wakes one that is in no list any more. It may be gone then, and use its entry again.
void tell(waiter& one) noexcept;

// The caller's place in a list.
class wait_entry {
public:
    explicit wait_entry(wish what = wish::set_already, std::int64_t amount = 0) noexcept;
    wait_entry(wait_entry const&) = delete;
    wait_entry& operator=(wait_entry const&) = delete;
    ~wait_entry();

    [[nodiscard]] waiter& get() noexcept { return *m_waiter; }
    // Until it is woken.
    // Memory ordering: what happens before that happens before the return.
    void wait() noexcept;

private:
    waiter* m_waiter;
    tulle_signal_t m_signal;
};

// A value, and who waits for it to change. Zero bytes are a valid one of value 0. Any thread of any
// process. Nobody is in the list whose wish could be granted, so that a process that comes later
// overtakes none.
class shared_value {
public:
    void wait(wish what, std::int64_t amount = 0) noexcept;
    // True: granted. Otherwise the entry, which has the wish, is in the list, and is told then.
    [[nodiscard]] bool enter(waiter& own) noexcept { return try_once(own.what, own.amount, &own); }
    // False: it was that already.
    bool change(std::int64_t to) noexcept;
    void add(std::int64_t amount) noexcept;

private:
    [[nodiscard]] bool try_once(wish what, std::int64_t amount, waiter* own) noexcept;
    [[nodiscard]] bool grant(wish what, std::int64_t amount) noexcept;
    // Of a process that goes on: what is ordered before that.
    void order_granted(wish what, int process) const noexcept;
    // Who waits for the value to be so is ordered after whoever has made it so.
    [[nodiscard]] void const* order_of(bool is_set) const noexcept {
        return reinterpret_cast<std::byte const*>(this) + (is_set ? 0 : 1);
    }
    [[nodiscard]] waiter* take_granted() noexcept;

    base::spin_lock m_lock; // guards the rest
    std::int64_t m_value = 0;
    waiter* m_first = nullptr;
};

// A lock (lock_core.hpp); zero bytes are a free one. Any process may release it.
class shared_lock {
public:
    void lock() noexcept {
        if (!m_core.try_lock()) lock_later();
    }
    [[nodiscard]] bool try_lock() noexcept { return m_core.try_lock(); }
    [[nodiscard]] bool looks_held() const noexcept { return m_core.looks_held(); } // a hint
    // False: nobody holds it.
    [[nodiscard]] bool unlock() noexcept { return m_core.try_unlock() || unlock_and_tell(); }
    // As in lock_core.
    [[nodiscard]] bool begin_leaving() noexcept { return m_core.begin_leaving(); }
    void end_leaving() noexcept { m_core.end_leaving(); }

private:
    void lock_later() noexcept;
    [[nodiscard]] bool unlock_and_tell() noexcept;

    lock_core<lock_machine> m_core;
};

// Those that wait for a condition, in the order in which they came; zero bytes are a valid one.
// Nothing remembers a wake-up for which nobody waits.
class shared_condition {
public:
    // A waiter enters before it gives up its lock, so a wake-up by the next holder finds it. It is
    // told then.
    void enter(waiter& own) noexcept;
    void wake_one() noexcept;
    void wake_all() noexcept;

private:
    base::spin_lock m_lock; // guards the rest
    waiter* m_first = nullptr;
};

// A barrier (barrier_core.hpp) of as many as each call says, and the subscripts of a loop that ends
// with one. Zero bytes are a valid one.
class shared_barrier {
public:
    void wait(std::int64_t processes) noexcept;
    // True: all have come. Otherwise the entry is told when they have.
    [[nodiscard]] bool enter(std::int64_t processes, waiter& own) noexcept;
    // False: those up to `most` have all been taken; they begin again when all have come to wait.
    [[nodiscard]] bool take_subscript(std::int64_t most, std::int64_t& subscript) noexcept {
        return m_core.take_subscript(most, subscript);
    }

private:
    [[nodiscard]] std::uint32_t arrive_and_wait(std::int64_t processes) noexcept;
    [[nodiscard]] bool is_over_soon(std::uint32_t round) const noexcept;
    [[nodiscard]] bool is_over_after_nap(std::uint32_t round) noexcept;
    void wake_nappers() noexcept;
    // By which the search for races orders those of a round; of two rounds, as one may begin while
    // some have not yet gone on from the other.
    [[nodiscard]] void const* order_of(std::uint32_t round) const noexcept {
        return reinterpret_cast<std::byte const*>(this) + round % 2;
    }

    barrier_core<os::machine, waiter> m_core;
    std::atomic<std::uint32_t> m_nappers{0};
};

} // namespace tulle::parmacs

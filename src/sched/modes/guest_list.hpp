// SPDX-License-Identifier: Apache-2.0
// The foreign OS threads that use Tulle (guest.hpp). A guest that has left is used again for the
// next OS thread, and none is freed while anybody may read it: thieves go through the list
// without a lock.
#pragma once

#include "base/debug_access.hpp"
#include "base/intrusive_list.hpp"
#include "sched/worker.hpp"

#include <atomic>
#include <cstdint>
#include <mutex>

namespace tulle::sched {

struct guest {
    guest(scheduler& owner, bool asymmetric) noexcept
        : as_worker(owner, worker_kind::guest, -1, asymmetric) {}

    // What thieves and reports may touch.
    [[nodiscard]] worker_remote& remote() noexcept { return as_worker; }
    // Its OS thread has forked something that others may take. A hint.
    [[nodiscard]] bool looks_stealable() const noexcept {
        record_deque const* const deque = as_worker.visible.get();
        return deque != nullptr && deque->looks_stealable();
    }

    worker as_worker; // for its own OS thread
    fiber stack{fiber_kind::guest};
    thread_frame frame;
    guest* next = nullptr;      // in the list of all; fixed once linked
    guest* next_free = nullptr; // guarded by the list's lock
};

class guest_list {
public:
    using iterator = base::list_iterator<&guest::next>;

    guest_list() = default;
    ~guest_list();
    guest_list(guest_list const&) = delete;
    guest_list& operator=(guest_list const&) = delete;

    // --- anyone: all there ever were -------------------------------------------------------------
    // pairs with make.
    [[nodiscard]] iterator begin() const noexcept {
        return iterator(m_first.load(std::memory_order_acquire));
    }
    [[nodiscard]] iterator end() const noexcept { return iterator(); }
    [[nodiscard]] guest& find(worker_remote const& w) const noexcept; // `w` is one of them
    // One of them has records that others may take. A hint.
    [[nodiscard]] bool leave_work() const noexcept;
    // The next fork of each wakes a sleeper. False: none shows a deque.
    [[nodiscard]] bool set_wake_flags() const noexcept;
    // One of them shows a deque.
    [[nodiscard]] bool show_deques() const noexcept;
    // Made by them and not ended by them: a snapshot.
    [[nodiscard]] std::int64_t live_threads() const noexcept;

    // --- an OS thread comes and goes -------------------------------------------------------------
    // Calls prepare(guest) for one that no OS thread uses, under the lock that fork(2) waits for.
    // False: no memory.
    template <class Prepare>
    [[nodiscard]] bool acquire(scheduler& owner, bool asymmetric, Prepare prepare) noexcept {
        std::lock_guard const held(m_lock);
        guest* const g = m_free.empty() ? make(owner, asymmetric) : m_free.pop();
        if (g == nullptr) return false;
        prepare(*g);
        return true;
    }
    void release(guest& left) noexcept;

    // --- around fork(2) --------------------------------------------------------------------------
    void lock_for_process_fork() noexcept { m_lock.lock(); }
    void unlock_after_process_fork() noexcept { m_lock.unlock(); }
    // Called in the child process: the OS threads of all but `caller` are not there.
    void forget_all_but(worker_remote const* caller) noexcept;

private:
    friend struct base::debug_access;
    [[nodiscard]] guest* make(scheduler& owner, bool asymmetric) noexcept;

    std::atomic<guest*> m_first{nullptr};
    std::mutex m_lock; // guards the list of those that no OS thread uses
    base::intrusive_stack<&guest::next_free> m_free;
};

} // namespace tulle::sched

// SPDX-License-Identifier: Apache-2.0
// What a node has of a mutex, and its manager. A mutex is a lock in two levels
// (sync/machine_lock.hpp): threads of a node take turns at the node's share, and who has the share
// asks the manager for the mutex, for its node. While nobody contends, it goes back with each
// unlock; contended, it stays at the node until another one wants it.
//   Who owns a mutex is known at the owner's node alone. A thread of another node may unlock one of
// the normal type; the manager then says which node has it.
#pragma once

#include "compat/tnt/managed.hpp"
#include "os/machine.hpp"
#include "sync/machine_lock.hpp"

#include <tnt.h>
#include <tulle/latch.hpp>
#include <tulle/semaphore.hpp>

#include <atomic>
#include <set>

namespace tulle::tnt {

// Of threads, which sleep while they wait for it.
class patient_lock {
public:
    void lock() noexcept {
        m_free.acquire();
        m_is_held.store(true, std::memory_order_relaxed); // relaxed, all: a hint
    }
    [[nodiscard]] bool try_lock() noexcept { return note(m_free.try_acquire()); }
    // Before `deadline`.
    [[nodiscard]] bool lock_until(std::int64_t deadline) {
        if (deadline == k_never) {
            lock();
            return true;
        }
        return note(m_free.try_acquire_for(std::chrono::nanoseconds(left_until(deadline))));
    }
    [[nodiscard]] bool looks_held() const noexcept {
        return m_is_held.load(std::memory_order_relaxed);
    }
    bool unlock() noexcept {
        m_is_held.store(false, std::memory_order_relaxed);
        m_free.release();
        return true;
    }

private:
    bool note(bool is_locked) noexcept {
        if (is_locked) m_is_held.store(true, std::memory_order_relaxed);
        return is_locked;
    }

    binary_semaphore m_free{1};
    std::atomic<bool> m_is_held{false};
};

// --- at the manager ------------------------------------------------------------------------------

// What it says to a node that asks for the mutex.
struct mutex_answer {
    int error = 0; // EINVAL: it is gone; ETIMEDOUT
    bool stays = false;
    bool is_wanted = false;
    template <class Archive> void serialize(Archive& archive) { archive(error, stays, is_wanted); }
};

class managed_mutex {
public:
    explicit managed_mutex(int of = TNT_MUTEX_DEFAULT) : type(of) {}

    // For a node. Waits until it has the mutex, or until the deadline.
    mutex_answer take(number name, int node, bool is_contended, std::int64_t deadline);
    void release(sync::left how);
    [[nodiscard]] int keeper() noexcept { return m_home.keeper(); } // below 0: nobody
    int destroy(number name);
    void join(int node); // it has a share from now on

    int const type;

private:
    struct request { // of a node that waits
        os::machine::plain<request*> after{nullptr};
        int machine = 0; // the node
        os::machine::plain<bool> stays{false};
        os::machine::plain<bool> is_wanted{false};
        tulle::latch granted{1};
    };
    using home = sync::lock_home<os::machine, request>;

    void recall(number name, int from);

    home m_home;
    tulle::mutex m_lock; // guards the next one
    std::set<int> m_nodes;
};

// --- at each node --------------------------------------------------------------------------------

class node_mutex {
public:
    node_mutex(number name, int type) noexcept : m_name(name), m_type(type) {}

    // Errno values, as the functions of the header return them.
    int lock(number by, std::int64_t deadline);
    int try_lock(number by);
    // `by`: k_anybody: a thread of another node.
    int unlock(number by);
    [[nodiscard]] sync::left recall() noexcept { return m_share.recall(); }

    static constexpr number k_anybody = 0;

private:
    int lock_again(bool may_wait) noexcept;
    int fetch(bool is_contended, std::int64_t deadline);
    int own(number by) noexcept;
    int give_back(sync::left how);
    int unlock_elsewhere() const;

    number const m_name;
    int const m_type;
    sync::lock_share<os::machine, patient_lock> m_share;
    std::atomic<number> m_owner{0}; // 0: no thread of this node; written with the share
    unsigned m_again = 0;           // how often it has locked it besides; under the share
};

// That of this node. Null: it is gone.
[[nodiscard]] std::shared_ptr<node_mutex> node_mutex_of(number name); // std::bad_alloc

} // namespace tulle::tnt

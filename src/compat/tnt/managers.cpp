// SPDX-License-Identifier: Apache-2.0
// Mutexes and barriers: objects of one node, where those who wait stand in threads that their calls
// have made. New ones go to the nodes in turn.
#include "compat/tnt/registry.hpp"

#include <tnt.h>
#include <tulle/condition_variable.hpp>

#include <atomic>

namespace tulle::tnt {

namespace {

struct managed_mutex {
    tulle::mutex lock; // guards the next ones
    tulle::condition_variable opened;
    bool is_locked = false;
    bool is_gone = false;
};

struct managed_barrier {
    explicit managed_barrier(unsigned of) : threads(of) {}
    unsigned const threads;
    tulle::mutex lock; // guards the next ones
    tulle::condition_variable released;
    unsigned arrived = 0;
    std::uint64_t rounds = 0;
};

place next_manager() {
    static std::atomic<unsigned> s_turn{0};
    // relaxed: a number of each its own
    auto const turn = s_turn.fetch_add(1, std::memory_order_relaxed);
    return place(static_cast<int>((turn + static_cast<unsigned>(here().index())) %
                                  static_cast<unsigned>(place_count())));
}

// Action(object) at the object's node.
template <class T, class Action> int manage(number const* name, Action) {
    if (name == nullptr || !is_number(*name)) return EINVAL;
    return guarded([&] {
        return at(
            place(node_of(*name)),
            [](number n) {
                auto const found = registry_of<T>().find(n);
                return found == nullptr ? EINVAL : Action{}(*found, n);
            },
            *name);
    });
}

int lock(managed_mutex& m) {
    std::unique_lock held(m.lock);
    m.opened.wait(held, [&] { return !m.is_locked || m.is_gone; });
    if (m.is_gone) return EINVAL;
    m.is_locked = true;
    return 0;
}
int try_lock(managed_mutex& m) {
    std::lock_guard const held(m.lock);
    if (m.is_locked) return EBUSY;
    m.is_locked = true;
    return 0;
}
int unlock(managed_mutex& m) {
    std::lock_guard const held(m.lock);
    if (!m.is_locked) return EPERM;
    m.is_locked = false;
    m.opened.notify_one();
    return 0;
}
int destroy(managed_mutex& m, number name) {
    std::lock_guard const held(m.lock);
    if (m.is_locked) return EBUSY;
    m.is_gone = true;
    m.opened.notify_all();
    registry_of<managed_mutex>().remove(name);
    return 0;
}

int wait(managed_barrier& b) {
    std::unique_lock held(b.lock);
    if (++b.arrived == b.threads) {
        b.arrived = 0;
        ++b.rounds;
        b.released.notify_all();
        return TNT_BARRIER_SERIAL_THREAD;
    }
    b.released.wait(held, [&b, round = b.rounds] { return b.rounds != round; });
    return 0;
}
int destroy(managed_barrier& b, number name) {
    std::lock_guard const held(b.lock);
    if (b.arrived != 0) return EBUSY;
    registry_of<managed_barrier>().remove(name);
    return 0;
}

} // namespace
} // namespace tulle::tnt

using namespace tulle::tnt;

int tnt_mutex_init(tnt_mutex_t* mutex) {
    if (mutex == nullptr) return EINVAL;
    return guarded([&] {
        *mutex = tulle::at(next_manager(), [] { return registry_of<managed_mutex>().add(); });
        return 0;
    });
}
int tnt_mutex_lock(const tnt_mutex_t* mutex) {
    return manage<managed_mutex>(mutex, [](managed_mutex& m, number) { return lock(m); });
}
int tnt_mutex_trylock(const tnt_mutex_t* mutex) {
    return manage<managed_mutex>(mutex, [](managed_mutex& m, number) { return try_lock(m); });
}
int tnt_mutex_unlock(const tnt_mutex_t* mutex) {
    return manage<managed_mutex>(mutex, [](managed_mutex& m, number) { return unlock(m); });
}
int tnt_mutex_destroy(const tnt_mutex_t* mutex) {
    return manage<managed_mutex>(mutex,
                                 [](managed_mutex& m, number name) { return destroy(m, name); });
}

int tnt_barrier_init(tnt_barrier_t* barrier, unsigned threads) {
    if (barrier == nullptr || threads == 0) return EINVAL;
    return guarded([&] {
        *barrier = tulle::at(
            next_manager(), [](unsigned n) { return registry_of<managed_barrier>().add(n); },
            threads);
        return 0;
    });
}
int tnt_barrier_wait(const tnt_barrier_t* barrier) {
    return manage<managed_barrier>(barrier, [](managed_barrier& b, number) { return wait(b); });
}
int tnt_barrier_destroy(const tnt_barrier_t* barrier) {
    return manage<managed_barrier>(
        barrier, [](managed_barrier& b, number name) { return destroy(b, name); });
}

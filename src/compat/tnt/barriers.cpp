// SPDX-License-Identifier: Apache-2.0
// Barriers. Threads of one node arrive together: the first one calls the manager and stays there
// until some of its node are let go; those that come meanwhile are added by one call at a time for
// all that have come since the last. So a round takes a few messages for each node, however many
// threads it has there, and the answer lets all of them go.
#include "compat/tnt/managed.hpp"

#include <tnt.h>

#include <algorithm>
#include <deque>
#include <map>

namespace tulle::tnt {

namespace {

// --- at the manager ------------------------------------------------------------------------------

// So many of a node's threads, in the order in which they have arrived there, and whether the first
// of them is the one that is told so.
struct release {
    std::uint64_t threads = 0;
    bool has_serial = false;
    int error = 0;
    std::uint64_t round = 0;
    template <class Archive> void serialize(Archive& archive) {
        archive(threads, has_serial, error, round);
    }
};

class managed_barrier {
public:
    explicit managed_barrier(unsigned of) : m_threads(of) {}

    release add(int node, std::uint64_t threads) {
        std::lock_guard const held(m_lock);
        if (m_is_gone) return {0, false, EINVAL, 0};
        arrive(node, threads);
        return {};
    }
    // Of that node: when there is something to release. One call of a node at a time.
    release add_and_wait(number name, int node, std::uint64_t threads) {
        std::unique_lock held(m_lock);
        if (m_is_gone && threads != 0) return {0, false, EINVAL, 0};
        arrive(node, threads);
        std::deque<release>& own = m_releases[node];
        m_released.wait(held, [&own] { return !own.empty(); });
        release const first = own.front();
        own.pop_front();
        --m_unfetched;
        if (m_is_gone && m_unfetched == 0) registry_of<managed_barrier>().remove(name);
        return first;
    }
    // Threads that have been released may not know yet.
    int destroy(number name) {
        std::lock_guard const held(m_lock);
        if (m_is_gone) return EINVAL;
        if (m_count != 0) return EBUSY;
        m_is_gone = true;
        if (m_unfetched == 0) registry_of<managed_barrier>().remove(name);
        return 0;
    }

private:
    struct arrival {
        int node;
        std::uint64_t threads;
    };

    void arrive(int node, std::uint64_t threads) {
        if (threads != 0) m_arrivals.push_back({node, threads});
        m_count += threads;
        while (m_count >= m_threads) end_round();
    }
    void end_round() {
        bool is_first = true;
        for (std::uint64_t left = m_threads; left != 0; is_first = false) {
            arrival& first = m_arrivals.front();
            std::uint64_t const some = std::min(left, first.threads);
            add_release(first.node, some, is_first);
            left -= some;
            first.threads -= some;
            if (first.threads == 0) m_arrivals.pop_front();
        }
        m_count -= m_threads;
        ++m_rounds;
        m_released.notify_all();
    }
    // One for each round and node.
    void add_release(int node, std::uint64_t threads, bool has_serial) {
        std::deque<release>& own = m_releases[node];
        if (own.empty() || own.back().round != m_rounds) {
            own.push_back({0, false, 0, m_rounds});
            ++m_unfetched;
        }
        own.back().threads += threads;
        own.back().has_serial |= has_serial;
    }

    unsigned const m_threads;
    tulle::mutex m_lock; // guards the rest
    tulle::condition_variable m_released;
    std::uint64_t m_count = 0; // of all arrivals
    std::deque<arrival> m_arrivals;
    std::uint64_t m_rounds = 0;
    std::map<int, std::deque<release>> m_releases; // by nodes, until they fetch them
    std::size_t m_unfetched = 0;                   // of these
    bool m_is_gone = false;
};

// Call(barrier) at the manager.
template <class Call> release ask(number name, std::uint64_t threads, Call /*without captures*/) {
    release got;
    got.error = guarded([&] {
        got = at(
            place(node_of(name)),
            [](number of, int node, std::uint64_t count) {
                auto const found = registry_of<managed_barrier>().find(of);
                return found == nullptr ? release{0, false, EINVAL, 0}
                                        : Call{}(*found, of, node, count);
            },
            name, here().index(), threads);
        return got.error;
    });
    return got;
}

// --- at each node --------------------------------------------------------------------------------

// The threads of this node that are in the barrier.
class node_barrier {
public:
    explicit node_barrier(number name) : m_name(name) {}

    int wait() {
        waiter self;
        std::unique_lock held(m_lock);
        add(self);
        while (!self.is_released) {
            if (!m_has_leader)
                lead(held);
            else if (m_unreported != 0 && !m_is_reporting)
                report(held);
            else
                m_changed.wait(held);
        }
        return self.result;
    }

    unsigned users = 0; // guarded by the lock of node_barriers

private:
    struct waiter {
        waiter* next = nullptr;
        int result = 0;
        bool is_released = false;
    };

    void lead(std::unique_lock<tulle::mutex>& held) {
        m_has_leader = true;
        release const got =
            call(held, [](managed_barrier& b, number name, int node, std::uint64_t threads) {
                return b.add_and_wait(name, node, threads);
            });
        m_has_leader = false;
        if (got.has_serial && m_first != nullptr) m_first->result = TNT_BARRIER_SERIAL_THREAD;
        for (std::uint64_t k = 0; k < got.threads; ++k) let_first_go();
        finish_call(got.error);
    }
    void report(std::unique_lock<tulle::mutex>& held) {
        m_is_reporting = true;
        int error = 0;
        while (error == 0 && m_unreported != 0)
            error = call(held, [](managed_barrier& b, number, int node, std::uint64_t threads) {
                        return b.add(node, threads);
                    }).error;
        m_is_reporting = false;
        finish_call(error);
    }
    // With all that have come since the last call.
    template <class Call> release call(std::unique_lock<tulle::mutex>& held, Call ask_for) {
        std::uint64_t const threads = std::exchange(m_unreported, 0);
        held.unlock();
        release const got = ask(m_name, threads, ask_for);
        held.lock();
        return got;
    }
    // After an error nobody knows what the manager has counted: it is that of all who are here.
    void finish_call(int error) {
        while (error != 0 && m_first != nullptr) {
            m_first->result = error;
            let_first_go();
        }
        if (error != 0) m_unreported = 0;
        m_changed.notify_all();
    }

    void add(waiter& last) {
        (m_first == nullptr ? m_first : m_last->next) = &last;
        m_last = &last;
        ++m_unreported;
    }
    void let_first_go() {
        if (m_first == nullptr) return; // an error has let them all go
        waiter& first = *std::exchange(m_first, m_first->next);
        first.is_released = true;
    }

    number const m_name;
    tulle::mutex m_lock; // guards the rest
    tulle::condition_variable m_changed;
    waiter* m_first = nullptr; // in the order of their arrival
    waiter* m_last = nullptr;
    std::uint64_t m_unreported = 0; // the last ones, of which the manager does not know
    bool m_has_leader = false;
    bool m_is_reporting = false;
};

// Those in which threads of this node are.
class node_barriers {
public:
    // std::bad_alloc
    std::shared_ptr<node_barrier> enter(number name) {
        std::lock_guard const held(m_lock);
        auto& found = m_all[name];
        if (found == nullptr) found = std::make_shared<node_barrier>(name);
        ++found->users;
        return found;
    }
    void leave(number name) {
        std::lock_guard const held(m_lock);
        auto const found = m_all.find(name);
        if (--found->second->users == 0) m_all.erase(found);
    }

private:
    tulle::mutex m_lock; // guards the rest
    std::unordered_map<number, std::shared_ptr<node_barrier>> m_all;
};

// Never destroyed, as threads may outlive static objects.
node_barriers& barriers_of_node() {
    static auto* const s_barriers = new node_barriers;
    return *s_barriers;
}

int wait(number name) {
    if (!is_number(name)) return EINVAL;
    int const result = barriers_of_node().enter(name)->wait();
    barriers_of_node().leave(name);
    return result;
}

} // namespace
} // namespace tulle::tnt

using namespace tulle::tnt;

int tnt_barrier_init(tnt_barrier_t* barrier, unsigned threads) {
    return threads == 0 ? EINVAL : make<managed_barrier>(barrier, threads);
}
int tnt_barrier_wait(const tnt_barrier_t* barrier) {
    if (barrier == nullptr) return EINVAL;
    return guarded([&] { return wait(*barrier); });
}
int tnt_barrier_destroy(const tnt_barrier_t* barrier) {
    if (barrier == nullptr) return EINVAL;
    return guarded([&] {
        return manage_number<managed_barrier>(
            *barrier, [](managed_barrier& b, number name) { return b.destroy(name); });
    });
}

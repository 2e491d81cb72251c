// SPDX-License-Identifier: Apache-2.0
// A barrier at its manager, which knows of threads by their nodes and numbers.
#pragma once

#include "compat/tnt/managed.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>

namespace tulle::tnt {

// So many of a node's threads, in the order in which they have arrived there, and whether the first
// of them is the one that is told so.
struct barrier_release {
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

    barrier_release add(int node, std::uint64_t threads) {
        std::lock_guard const held(m_lock);
        if (m_is_gone) return {0, false, EINVAL, 0};
        arrive(node, threads);
        return {};
    }
    // Of that node: when there is something to release. One call of a node at a time.
    barrier_release add_and_wait(number name, int node, std::uint64_t threads) {
        std::unique_lock held(m_lock);
        if (m_is_gone && threads != 0) return {0, false, EINVAL, 0};
        arrive(node, threads);
        std::deque<barrier_release>& own = m_releases[node];
        m_released.wait(held, [&own] { return !own.empty(); });
        barrier_release const first = own.front();
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
        std::deque<barrier_release>& own = m_releases[node];
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
    std::map<int, std::deque<barrier_release>> m_releases; // by nodes, until they fetch them
    std::size_t m_unfetched = 0;                           // of these
    bool m_is_gone = false;
};

} // namespace tulle::tnt

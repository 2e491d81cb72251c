// SPDX-License-Identifier: Apache-2.0
// blocked: n threads alive at once, all waiting for one event, then released. Each run has a
// process of its own. Figures:
// s from the first creation until the last has run out, without the time of reading the memory
// figure; and resident bytes per thread while all wait.
#pragma once

#include "../common/harness.hpp"
#include "../common/memory.hpp"

#include <atomic>

namespace tulle::bench {

template <class Library> class blocked_crowd {
public:
    explicit blocked_crowd(long n) : m_count(n) {}

    void gather() {
        for (long k = 0; k < m_count; ++k) Library::detach([this] { stay(); });
        // Only a count: orders nothing.
        while (m_arrived.load(std::memory_order_relaxed) < m_count) Library::yield();
    }

    // Right: nobody has come through before, and all have afterwards.
    [[nodiscard]] bool release() {
        bool const all_wait = left() == 0;
        m_gate.set();
        while (left() < m_count) Library::yield();
        return all_wait && left() == m_count;
    }

    // Pairs with stay.
    [[nodiscard]] long left() const { return m_left.load(std::memory_order_acquire); }

private:
    void stay() {
        m_arrived.fetch_add(1, std::memory_order_relaxed);
        m_gate.wait();
        // Pairs with release: the last touch of this object.
        m_left.fetch_add(1, std::memory_order_release);
    }

    long m_count;
    typename Library::event m_gate;
    std::atomic<long> m_arrived{0};
    std::atomic<long> m_left{0};
};

template <class Library> child_result blocked_once(settings const& s) {
    Library library(s.workers);
    child_result result;
    library.run([&] {
        double const before = resident_bytes();
        blocked_crowd<Library> crowd(s.n);
        result.time = time_of([&] { crowd.gather(); });
        result.bytes = (resident_bytes() - before) / static_cast<double>(s.n);
        result.time += time_of([&] { result.ok = crowd.release(); });
    });
    return result;
}

template <class Library> int blocked_main(int argc, char** argv, sizes size = {1'000'000, 20'000}) {
    settings const s = parse(argc, argv, size);
    pin_if_single(s);
    figure elapsed{"s"};
    figure memory{"bytes"};
    for (int i = 0; i < s.runs; ++i) {
        child_result const r = in_child([&] { return blocked_once<Library>(s); });
        elapsed.add(r.time, r.ok);
        memory.add(r.bytes, r.ok);
    }
    return print_all("blocked", Library::k_name, s, {elapsed, memory});
}

} // namespace tulle::bench

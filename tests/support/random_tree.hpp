// SPDX-License-Identifier: Apache-2.0
//
// Trees of threads for stress tests: a hash decides the shape of a tree, its value, and what each
// node does on the way: fork, spawn, throw, yield, sleep, block, and in which order it joins. The
// value is known without running anything.
// This is no benchmark.
#pragma once

#include "runtime_fixture.hpp"

#include <array>
#include <chrono>
#include <vector>

class random_tree {
public:
    explicit random_tree(std::uint64_t seed, int depth, std::atomic<long>& detached)
        : m_root{mix(seed), depth}, m_detached(detached) {}

    [[nodiscard]] long expected() const { return expected(m_root); }
    /// In the calling thread; what it starts may still be counted in `detached` afterwards.
    [[nodiscard]] long run() { return run(m_root); }
    [[nodiscard]] long spawned_detached() const { return count_detached(m_root); }

private:
    struct node {
        std::uint64_t hash;
        int depth;
    };
    struct carried {
        long value;
    };
    static constexpr int k_most_children = 3;
    static constexpr int k_wide = 300;

    enum salt : std::uint64_t {
        s_children,
        s_way,
        s_yield,
        s_sleep,
        s_event,
        s_throw,
        s_detach,
        s_wide,
        s_own_stack,
        s_first,
        s_timed
    };

    static std::uint64_t mix(std::uint64_t x) {
        x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
        x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
        return x ^ (x >> 31U);
    }
    static std::uint64_t draw(node n, salt s, std::uint64_t below) {
        return mix(n.hash + 977 * (s + 1)) % below;
    }
    static bool one_in(node n, salt s, std::uint64_t chances) { return draw(n, s, chances) == 0; }

    static int children(node n) {
        return n.depth == 0 ? 0 : 1 + static_cast<int>(draw(n, s_children, k_most_children));
    }
    static node child(node n, int k) {
        return {mix(n.hash + static_cast<std::uint64_t>(k) + 1), n.depth - 1};
    }
    static bool is_wide(node n) { return n.depth == 2 && one_in(n, s_wide, 40); }
    static bool detaches(node n) { return one_in(n, s_detach, 24); }
    static long own_value(node n) { return static_cast<long>(n.hash % 1000); }

    static long expected(node n) {
        long sum = own_value(n) + (is_wide(n) ? k_wide : 0);
        for (int k = 0; k < children(n); ++k) sum += expected(child(n, k));
        return sum;
    }
    static long count_detached(node n) {
        long count = detaches(n) ? 1 : 0;
        for (int k = 0; k < children(n); ++k) count += count_detached(child(n, k));
        return count;
    }

    long run(node n) {
        disturb(n);
        long const below = children(n) == 0 ? 0 : run_children(n);
        return below + own_value(n) + (is_wide(n) ? run_wide() : 0);
    }
    // The result, or an exception with it inside.
    long run_or_throw(node n) {
        long const value = run(n);
        if (one_in(n, s_throw, 16)) throw carried{value};
        return value;
    }
    template <class Join> static long catch_value(Join&& join) {
        try {
            return join();
        } catch (carried const& c) {
            tulle::this_thread::yield(); // the handler may go on on another worker
            return c.value;
        }
    }

    void disturb(node n) {
        if (one_in(n, s_yield, 6)) tulle::this_thread::yield();
        if (one_in(n, s_sleep, 200))
            tulle::this_thread::sleep_for(std::chrono::microseconds(n.hash % 64));
        if (one_in(n, s_event, 16)) wait_for_own_child();
        if (detaches(n)) detach(n);
    }
    static void wait_for_own_child() {
        one_shot event;
        auto const firing = tulle::fork([&event] { event.fire(); });
        event.wait();
    }
    void detach(node n) {
        tulle::attributes how;
        how.child_first = one_in(n, s_first, 2);
        tulle::spawn_detached(how, [this, n] {
            if (n.hash % 3 == 0) tulle::this_thread::yield();
            m_detached.fetch_add(1);
        });
    }
    static long run_wide() {
        std::atomic<long> ran{0};
        tulle::scope s;
        for (int k = 0; k < k_wide; ++k) {
            s.spawn([&ran, k] {
                if (k % 32 == 0) tulle::this_thread::yield();
                ran.fetch_add(1, std::memory_order_relaxed);
            });
        }
        s.join();
        return ran.load();
    }

    long run_children(node n) {
        switch (draw(n, s_way, 6)) {
            case 0: return last_first(n);
            case 1: return first_first(n);
            case 2: return middle_first(n);
            case 3: return in_scope(n);
            case 4: return in_two_scopes(n);
            default: return as_threads(n);
        }
    }
    auto fork_child(node n, int k) {
        return tulle::fork(
            [this, n, k] { return k < children(n) ? run_or_throw(child(n, k)) : 0L; });
    }
    long last_first(node n) {
        auto a = fork_child(n, 0);
        auto b = fork_child(n, 1);
        long const c =
            catch_value([&] { return children(n) > 2 ? run_or_throw(child(n, 2)) : 0L; });
        long const from_b = catch_value([&] { return b.join(); });
        return c + from_b + catch_value([&] { return a.join(); });
    }
    long first_first(node n) {
        auto a = fork_child(n, 0);
        auto b = fork_child(n, 1);
        auto c = fork_child(n, 2);
        long sum = catch_value([&] { return a.join(); });
        sum += catch_value([&] { return b.join(); });
        return sum + catch_value([&] { return c.join(); });
    }
    long middle_first(node n) {
        auto a = fork_child(n, 0);
        auto b = fork_child(n, 1);
        long sum = catch_value([&] { return a.join(); });
        auto c = fork_child(n, 2); // above a hole
        sum += catch_value([&] { return b.join(); });
        return sum + catch_value([&] { return c.join(); });
    }
    long in_scope(node n) {
        std::atomic<long> sum{0};
        tulle::scope s;
        for (int k = 0; k < children(n); ++k) {
            s.spawn([this, &sum, n, k] {
                sum += catch_value([&] { return run_or_throw(child(n, k)); });
            });
        }
        if (n.hash % 5 == 0) {
            s.spawn([] { throw carried{0}; });
            catch_value([&s] {
                s.join();
                return 0;
            });
        } else {
            s.join();
        }
        return sum.load();
    }
    // The children of each lie between those of the other.
    long in_two_scopes(node n) {
        std::atomic<long> sum{0};
        tulle::scope below, above;
        for (int k = 0; k < children(n); ++k) {
            below.spawn([this, &sum, n, k] {
                sum += catch_value([&] { return run_or_throw(child(n, k)); });
            });
            above.spawn([&sum, k] { sum += k; });
        }
        below.join();
        above.join();
        return sum.load() - children(n) * (children(n) - 1) / 2;
    }
    long as_threads(node n) {
        std::vector<tulle::thread<long>> threads;
        for (int k = 0; k < children(n); ++k) {
            node const c = child(n, k);
            tulle::attributes how;
            how.child_first = one_in(c, s_first, 3);
            if (one_in(c, s_own_stack, 3)) how.stack_size = std::size_t{1} << 20U;
            threads.push_back(tulle::spawn(how, [this, c] { return run_or_throw(c); }));
        }
        long sum = 0;
        for (auto& t : threads) {
            if (one_in(n, s_timed, 3)) {
                while (!t.join_for(std::chrono::microseconds(50))) {}
            }
            sum += catch_value([&] { return t.join(); });
        }
        return sum;
    }

    node m_root;
    std::atomic<long>& m_detached;
};

// Runs a tree in the calling thread, with all that it starts.
inline void check_tree(std::uint64_t seed, int depth) {
    std::atomic<long> detached{0};
    random_tree tree(seed, depth, detached);
    long const value = tree.run();
    long const to_come = tree.spawned_detached();
    while (detached.load() != to_come) tulle::this_thread::yield();
    ASSERT_EQ(value, tree.expected()) << "TULLE_TEST_SEED=" << seed;
}

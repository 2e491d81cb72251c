// SPDX-License-Identifier: Apache-2.0
// chapel-calls: what the run time of Chapel asks of a tasking layer, in the order in which compiled
// programs ask it; the layer is Qthreads' interface, or threads of the operating system.
// Figures:
//   ns of `sync begin`      one task, and the wait for it
//   ns per task, coforall   n tasks by one task, with copied arguments, and the wait for all
//   ns per call, cobegin    fib of k_fib: two tasks for each call, which waits for both
//   ns per call, sequential the same without tasks
//   ns per round trip       two tasks, two sync variables
// A task that waits for others yields until a count is zero, as Chapel's does. One run comes ahead
// of those that count: its records and stacks are the first ones, for which the system gives pages.
//
// Layer: run(main task), fork(function, bundle, size), run_unstarted(&first, count): those that
// begin now in the waiting task, if any; yield(); sync_variable: wait_full_and_lock(),
// wait_empty_and_lock(), mark_full_and_unlock(), mark_empty_and_unlock().
#pragma once

#include "../common/harness.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace tulle::bench {

// The head of what a task gets a copy of, as Chapel's run time has it.
struct chapel_bundle {
    bool executes_on = false;
    std::int32_t line = 0, file = 0, sublocale = -1;
    std::int16_t function_id = 0;
    void (*function)(void*) = nullptr;
    std::uint32_t id = UINT32_MAX;
    bool state[4] = {};
};

struct end_count {
    std::atomic<long> running{0};
};

template <class Layer> class chapel_program {
public:
    chapel_program(Layer& layer, long tasks, int fib) : m_tasks(tasks), m_fib(fib), m_layer(layer) {
        s_layer = &layer;
    }

    // Each: ns, and whether the result is right.
    void sync_begin(figure& cost) {
        s_sum.store(0, std::memory_order_relaxed);
        double const time = time_of([this] {
            for (long k = 0; k < m_tasks; ++k) run_all(1);
        });
        cost.add(time * 1e9 / static_cast<double>(m_tasks),
                 s_sum.load(std::memory_order_relaxed) == m_tasks);
    }
    void coforall(figure& cost) {
        s_sum.store(0, std::memory_order_relaxed);
        double const time = time_of([this] { run_all(m_tasks); });
        cost.add(time * 1e9 / static_cast<double>(m_tasks),
                 s_sum.load(std::memory_order_relaxed) == m_tasks * (m_tasks + 1) / 2);
    }
    void cobegin(figure& cost) const {
        long result = 0;
        double const time = time_of([&] { result = fib(m_fib); });
        cost.add(time * 1e9 / calls(m_fib), result == sequential_fib(m_fib));
    }
    void sequential(figure& cost) const {
        constexpr int k_more = 8; // deeper, as it is so much faster
        long result = 0;
        double const time = time_of([&] { result = sequential_fib(m_fib + k_more); });
        cost.add(time * 1e9 / calls(m_fib + k_more), result > 0);
    }
    void ping_pong(figure& cost) {
        shared_pair pair;
        pair.rounds = m_tasks;
        double const time = time_of([&] {
            partner_bundle partner;
            partner.head.function = &play;
            partner.pair = &pair;
            m_layer.fork(partner.head, sizeof partner);
            for (long k = 0; k < m_tasks; ++k) {
                pair.ping.put(k);
                if (pair.pong.take() != k + 1) pair.is_wrong = true;
            }
            while (!pair.is_over.load(std::memory_order_acquire)) m_layer.yield();
        });
        cost.add(time * 1e9 / static_cast<double>(m_tasks), !pair.is_wrong);
    }

private:
    // A sync variable of an integer.
    class sync_long {
    public:
        void put(long value) {
            m_state.wait_empty_and_lock();
            m_value = value;
            m_state.mark_full_and_unlock();
        }
        long take() {
            m_state.wait_full_and_lock();
            long const value = m_value;
            m_state.mark_empty_and_unlock();
            return value;
        }

    private:
        typename Layer::sync_variable m_state;
        long m_value = 0;
    };
    struct shared_pair {
        sync_long ping, pong;
        long rounds = 0;
        bool is_wrong = false;
        std::atomic<bool> is_over{false};
    };
    struct partner_bundle {
        chapel_bundle head;
        shared_pair* pair = nullptr;
    };
    struct add_bundle {
        chapel_bundle head;
        end_count* end = nullptr;
        long number = 0;
    };
    struct fib_bundle {
        chapel_bundle head;
        end_count* end = nullptr;
        long* result = nullptr;
        int n = 0;
    };

    static void play(void* bundle) {
        shared_pair& pair = *static_cast<partner_bundle*>(bundle)->pair;
        for (long k = 0; k < pair.rounds; ++k) pair.pong.put(pair.ping.take() + 1);
        pair.is_over.store(true, std::memory_order_release); // the last access
    }
    static void add(void* bundle) {
        auto const& b = *static_cast<add_bundle*>(bundle);
        s_sum.fetch_add(b.number, std::memory_order_relaxed);
        b.end->running.fetch_sub(1, std::memory_order_release); // the last access
    }
    static void wait_for(end_count& end) {
        s_layer->run_unstarted();
        while (end.running.load(std::memory_order_acquire) != 0) s_layer->yield();
    }

    void run_all(long count) {
        end_count end;
        end.running.fetch_add(count, std::memory_order_relaxed);
        add_bundle b;
        b.head.function = &add;
        b.end = &end;
        for (long k = 1; k <= count; ++k) {
            b.number = k;
            m_layer.fork(b.head, sizeof b);
        }
        wait_for(end);
    }

    static void fib_task(void* bundle) {
        auto const& b = *static_cast<fib_bundle*>(bundle);
        *b.result = fib(b.n);
        b.end->running.fetch_sub(1, std::memory_order_release); // the last access
    }
    static long fib(int n) {
        if (n < 2) return n;
        long results[2] = {0, 0};
        end_count end;
        end.running.fetch_add(2, std::memory_order_relaxed);
        fib_bundle b;
        b.head.function = &fib_task;
        b.end = &end;
        for (int k = 0; k < 2; ++k) {
            b.n = n - 1 - k;
            b.result = &results[k];
            s_layer->fork(b.head, sizeof b);
        }
        wait_for(end);
        return results[0] + results[1];
    }
    static long sequential_fib(int n) {
        keep(n);
        return n < 2 ? n : sequential_fib(n - 1) + sequential_fib(n - 2);
    }
    static double calls(int n) { return n < 2 ? 1 : 1 + calls(n - 1) + calls(n - 2); }

    static inline Layer* s_layer = nullptr;
    static inline std::atomic<long> s_sum{0};
    long m_tasks;
    int m_fib;
    Layer& m_layer;
};

template <class Layer> int chapel_calls_main(int argc, char** argv, char const* name) {
    constexpr int k_fib = 18, k_quick_fib = 10;
    settings const s = parse(argc, argv, {20'000, 1'000});
    pin_if_single(s);
    figure begin{"ns of sync begin"}, coforall{"ns per task of coforall"},
        cobegin{"ns per call of fib by cobegin"}, sequential{"ns per call of fib"},
        ping_pong{"ns per round trip of two sync variables"};
    Layer layer(s.workers);
    layer.run([&] {
        chapel_program<Layer> program(layer, s.n, s.quick ? k_quick_fib : k_fib);
        for (int k = 0; k <= s.runs; ++k) {
            program.sync_begin(begin);
            program.coforall(coforall);
            program.cobegin(cobegin);
            program.sequential(sequential);
            program.ping_pong(ping_pong);
        }
    });
    std::vector<figure> all{begin, coforall, cobegin, sequential, ping_pong};
    for (figure& each : all) each.values.erase(each.values.begin());
    return print_all("chapel-calls", name, s, all);
}

} // namespace tulle::bench

// SPDX-License-Identifier: Apache-2.0
// A small thread library over any switch backend, of the kind that papers on context switching
// measure with: every thread has its own stack from its creation on, and every switch goes through
// the worker's scheduler context. It exists to compare the backends with each other; it is no part
// of Tulle.
//
// create(thread) and join(thread) may be called by threads of the library only; a thread object
// lives until it is joined.
// Who may touch what: a worker's stacks and current thread are its own; its ready list has a lock,
// because others steal.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "arch/context.hpp"

namespace tulle::bench {

template <arch::context_backend Backend> class small_threads {
public:
    class thread {
    public:
        virtual ~thread() = default;
        virtual void run() = 0;

    private:
        friend small_threads;

        typename Backend::context m_context{};
        void* m_stack = nullptr;
        // nullptr: runs, nobody waits; a thread: the one that waits; &the_end(): has ended.
        std::atomic<thread*> m_joiner{nullptr};
    };

    explicit small_threads(int workers) {
        for (int i = 0; i < workers; ++i) m_workers.push_back(std::make_unique<worker>());
    }

    // Runs `first` and everything that it creates; returns when `first` has ended.
    void run(thread& first) {
        start(first, *m_workers[0]);
        std::vector<std::thread> helpers;
        for (std::size_t i = 1; i < m_workers.size(); ++i)
            helpers.emplace_back([this, &first, i] { serve(*m_workers[i], first); });
        serve(*m_workers[0], first);
        for (std::thread& helper : helpers) helper.join();
    }

    static void create(thread& made) { start(made, *here()); }

    static void join(thread& awaited) {
        if (has_ended(awaited)) return;
        worker& w = *here();
        w.awaited = &awaited;
        Backend::switch_to(w.current->m_context, w.home);
    }

private:
    static constexpr std::size_t k_stack_size = 16 * 1024;

    struct worker {
        typename Backend::context home{};
        thread* current = nullptr;
        // set: the current thread wants to wait for it; not set: it has ended
        thread* awaited = nullptr;
        std::vector<void*> stacks{};
        std::mutex lock{};
        std::vector<thread*> ready{};

        worker() = default;
        worker(worker const&) = delete;
        worker& operator=(worker const&) = delete;
        ~worker() {
            for (void* stack : stacks) std::free(stack);
        }

        void push(thread* t) {
            std::lock_guard const hold(lock);
            ready.push_back(t);
        }

        thread* pop() {
            std::lock_guard const hold(lock);
            if (ready.empty()) return nullptr;
            thread* const t = ready.back();
            ready.pop_back();
            return t;
        }

        thread* give_away() {
            std::lock_guard const hold(lock);
            if (ready.empty()) return nullptr;
            thread* const t = ready.front();
            ready.erase(ready.begin());
            return t;
        }
    };

    // The worker that the caller runs on: not inlined, as a thread may come back from a switch on
    // another one.
    [[gnu::noinline]] static worker*& here() {
        static thread_local worker* mine = nullptr;
        asm volatile("");
        return mine;
    }

    static thread* the_end() {
        static char mark;
        return reinterpret_cast<thread*>(&mark);
    }

    static bool has_ended(thread const& t) {
        return t.m_joiner.load(std::memory_order_acquire) == the_end(); // pairs with settle
    }

    static void start(thread& made, worker& w) {
        // The ready list's lock publishes it.
        made.m_joiner.store(nullptr, std::memory_order_relaxed);
        if (w.stacks.empty()) {
            made.m_stack = std::aligned_alloc(64, k_stack_size);
            if (made.m_stack == nullptr) std::abort();
        } else {
            made.m_stack = w.stacks.back();
            w.stacks.pop_back();
        }
        Backend::make(made.m_context, made.m_stack, k_stack_size, &enter, &made);
        w.push(&made);
    }

    static void enter(void* argument) {
        static_cast<thread*>(argument)->run();
        Backend::set(here()->home);
    }

    // On the worker's own stack, after the current thread has saved itself: makes its wish known to
    // others.
    static void settle(worker& w) {
        thread* const left = w.current;
        if (w.awaited == nullptr) {
            w.stacks.push_back(left->m_stack);
            // Pairs with has_ended.
            thread* const joiner = left->m_joiner.exchange(the_end(), std::memory_order_acq_rel);
            if (joiner != nullptr) w.push(joiner);
            return;
        }
        thread* nobody = nullptr;
        // Release: the saved context; acquire: what the ended thread has written. Both pair with
        // the exchange above.
        if (!w.awaited->m_joiner.compare_exchange_strong(nobody, left, std::memory_order_acq_rel,
                                                         std::memory_order_acquire))
            w.push(left);
    }

    thread* find_work(worker& w) {
        if (thread* const mine = w.pop()) return mine;
        for (auto& other : m_workers)
            if (other.get() != &w)
                if (thread* const stolen = other->give_away()) return stolen;
        return nullptr;
    }

    void serve(worker& w, thread const& first) {
        here() = &w;
        while (!has_ended(first)) {
            thread* const next = find_work(w);
            if (next == nullptr) {
                std::this_thread::yield();
                continue;
            }
            w.current = next;
            w.awaited = nullptr;
            Backend::switch_to(w.home, next->m_context);
            settle(w);
        }
    }

    std::vector<std::unique_ptr<worker>> m_workers;
};

} // namespace tulle::bench

// SPDX-License-Identifier: Apache-2.0
// As Chapel's tasking layer `fifo`: threads of the operating system take tasks from one queue. A
// task that must wait keeps its thread; another thread is made when a task is queued and no thread
// is free, up to so many as there are workers and tasks that wait. Who waits for tasks of its own
// begins those that nobody has begun.
#include "chapel_calls.hpp"

#include "../common/libraries/pthread.hpp"

#include <condition_variable>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace tulle::bench {
namespace {

class fifo_layer {
public:
    explicit fifo_layer(int workers) : m_processors(workers), m_most(workers) { s_layer = this; }
    ~fifo_layer() {
        std::unique_lock held(m_lock);
        m_ends = true;
        m_changed.notify_all();
        m_all_ended.wait(held, [this] { return m_threads == 0; });
    }
    fifo_layer(fifo_layer const&) = delete;
    fifo_layer& operator=(fifo_layer const&) = delete;

    static void run(std::function<void()> main_task) { main_task(); }

    void fork(chapel_bundle const& bundle, std::size_t size) {
        auto* const fresh = new task;
        fresh->memory = std::make_unique<std::byte[]>(size);
        std::memcpy(fresh->memory.get(), &bundle, size);
        std::lock_guard const held(m_lock);
        fresh->parent = t_current;
        push(fresh);
        if (m_free != 0)
            m_changed.notify_one();
        else
            make_thread();
    }
    // The newest first, as a list of tasks is walked through.
    void run_unstarted() {
        for (;;) {
            std::unique_lock held(m_lock);
            task* own = m_last;
            while (own != nullptr && own->parent != t_current) own = own->before;
            if (own == nullptr) return;
            unlink(own);
            held.unlock();
            run_task(own);
        }
    }
    static void yield() { sched_yield(); }

    class sync_variable {
    public:
        void wait_full_and_lock() { wait_and_lock(true, m_filled); }
        void wait_empty_and_lock() { wait_and_lock(false, m_emptied); }
        void mark_full_and_unlock() { mark_and_unlock(true, m_filled); }
        void mark_empty_and_unlock() { mark_and_unlock(false, m_emptied); }

    private:
        void wait_and_lock(bool wanted, std::condition_variable& signal) {
            std::unique_lock held(m_lock);
            if (m_is_full != wanted) {
                s_layer->change_waiting(1);
                signal.wait(held, [&] { return m_is_full == wanted; });
                s_layer->change_waiting(-1);
            }
            held.release();
        }
        void mark_and_unlock(bool is_full, std::condition_variable& signal) {
            m_is_full = is_full;
            signal.notify_one();
            m_lock.unlock();
        }

        std::mutex m_lock;
        std::condition_variable m_filled, m_emptied;
        bool m_is_full = false;
    };

private:
    struct task {
        std::unique_ptr<std::byte[]> memory;
        task const* parent = nullptr; // null: main
        task *before = nullptr, *behind = nullptr;
    };

    void push(task* t) {
        t->before = m_last;
        (m_last != nullptr ? m_last->behind : m_first) = t;
        m_last = t;
    }
    void unlink(task* t) {
        (t->before != nullptr ? t->before->behind : m_first) = t->behind;
        (t->behind != nullptr ? t->behind->before : m_last) = t->before;
    }
    static void run_task(task* t) {
        task const* const outer = t_current;
        t_current = t;
        auto* const bundle = reinterpret_cast<chapel_bundle*>(t->memory.get());
        bundle->function(bundle);
        t_current = outer;
        delete t;
    }
    void change_waiting(int by) {
        std::lock_guard const held(m_lock);
        m_most += by;
        if (by > 0 && m_first != nullptr && m_free == 0) make_thread();
    }
    // Main is one of the threads.
    void make_thread() {
        if (m_threads + 1 >= m_most) return;
        ++m_threads;
        pthread_runtime::detach([this] { serve(); });
    }
    void serve() {
        std::unique_lock held(m_lock);
        for (;;) {
            ++m_free;
            m_changed.wait(held, [this] { return m_ends || m_first != nullptr; });
            --m_free;
            if (m_first == nullptr) break;
            task* const t = m_first;
            unlink(t);
            held.unlock();
            run_task(t);
            held.lock();
        }
        if (--m_threads == 0) m_all_ended.notify_all();
    }

    static inline thread_local task const* t_current = nullptr;
    static inline fifo_layer* s_layer = nullptr;
    pthread_runtime m_processors;
    std::mutex m_lock; // guards the rest
    std::condition_variable m_changed, m_all_ended;
    task *m_first = nullptr, *m_last = nullptr;
    int m_most, m_threads = 0, m_free = 0;
    bool m_ends = false;
};

} // namespace

benchmark const registered("chapel-calls", "pthread", [](int argc, char** argv) {
    return chapel_calls_main<fifo_layer>(argc, argv, "pthread");
});

} // namespace tulle::bench

// SPDX-License-Identifier: Apache-2.0
// mtbb::task_group of MassiveThreads: the interface of TBB's, whose tasks are threads. For C++11
// and later. The tasks of a group are run and waited for by the thread that has it. An exception
// that leaves a task ends the program.
// TO_SERIAL or TASK_GROUP_NULL_CREATE, if defined as other than 0, runs each task as a call.
#ifndef TULLE_COMPAT_MTBB_TASK_GROUP_H
#define TULLE_COMPAT_MTBB_TASK_GROUP_H

#include <cassert>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <new>
#include <utility>

#include <myth/myth.h>

#if defined(TO_SERIAL) && TO_SERIAL
#define TULLE_MTBB_CALLS_TASKS 1
#elif defined(TASK_GROUP_NULL_CREATE) && TASK_GROUP_NULL_CREATE
#define TULLE_MTBB_CALLS_TASKS 1
#else
#define TULLE_MTBB_CALLS_TASKS 0
#endif

namespace mtbb {

// What programs may derive from, and give to run_task. The object is the program's, and must live
// until the wait.
struct task {
    task() : hthread(nullptr), next_of_group(nullptr), is_of_group(false) {}
    virtual ~task() {}
    virtual void* execute() = 0;

    myth_thread_t hthread;
    task* next_of_group;
    bool is_of_group; // made by the group, which destroys it
};

template <class F> struct callable_task : task {
    explicit callable_task(F callable) : f(std::move(callable)) {}
    void* execute() {
        f();
        return nullptr;
    }
    F f;
};

inline void* invoke_task(void* t) noexcept { return static_cast<task*>(t)->execute(); }

namespace tulle_detail {

// Memory for the tasks of a group: the first ones lie in the group itself.
class task_memory {
public:
    task_memory() : m_used(0), m_chunks(nullptr) {}
    ~task_memory() { reset(); }
    task_memory(task_memory const&) = delete;
    task_memory& operator=(task_memory const&) = delete;

    void* alloc(std::size_t size) { // std::bad_alloc
        size = round_up(size);
        if (size <= sizeof m_own - m_used) {
            void* const place = m_own + m_used;
            m_used += size;
            return place;
        }
        void* const memory = ::operator new(sizeof(chunk) + size);
        chunk* const made = ::new (memory) chunk;
        made->next = m_chunks;
        m_chunks = made;
        return made + 1;
    }
    void reset() {
        m_used = 0;
        while (m_chunks != nullptr) {
            chunk* const next = m_chunks->next;
            ::operator delete(m_chunks);
            m_chunks = next;
        }
    }

private:
    struct alignas(std::max_align_t) chunk {
        chunk* next;
    };
    static std::size_t round_up(std::size_t size) {
        return (size + alignof(std::max_align_t) - 1) / alignof(std::max_align_t) *
               alignof(std::max_align_t);
    }

    alignas(std::max_align_t) char m_own[256];
    std::size_t m_used;
    chunk* m_chunks;
};

} // namespace tulle_detail

struct task_group_no_prof {
    task_group_no_prof() : m_first(nullptr), m_last(&m_first) {}
    ~task_group_no_prof() { wait(); }
    task_group_no_prof(task_group_no_prof const&) = delete;
    task_group_no_prof& operator=(task_group_no_prof const&) = delete;

    // A thread that cannot be made is a call.
    void run_task(task* t) {
        t->next_of_group = nullptr;
        *m_last = t;
        m_last = &t->next_of_group;
        t->hthread = TULLE_MTBB_CALLS_TASKS ? nullptr : myth_create(&invoke_task, t);
        if (t->hthread == nullptr) invoke_task(t);
    }
    void run_task_if(bool as_thread, task* t) {
        if (as_thread)
            run_task(t);
        else
            t->execute();
    }

    template <class C> void run(C callable) {
        static_assert(alignof(callable_task<C>) <= alignof(std::max_align_t),
                      "a callable of a stricter alignment than any fundamental type");
        void* const memory = m_memory.alloc(sizeof(callable_task<C>));
        task* const made = ::new (memory) callable_task<C>(std::move(callable));
        made->is_of_group = true;
        run_task(made);
    }
    template <class C> void run_if(bool as_thread, C callable) {
        if (as_thread)
            run(std::move(callable));
        else
            callable();
    }
    template <class C> void run_(C callable, const char* /*file*/, int /*line*/) {
        run(std::move(callable));
    }

    void wait() {
        for (task* t = m_first; t != nullptr;) {
            task* const next = t->next_of_group;
            if (t->hthread != nullptr) myth_join(t->hthread, nullptr);
            if (t->is_of_group) t->~task();
            t = next;
        }
        m_first = nullptr;
        m_last = &m_first;
        m_memory.reset();
    }
    void wait_(const char* /*file*/, int /*line*/) { wait(); }

private:
    task* m_first;
    task** m_last;
    tulle_detail::task_memory m_memory;
};

typedef task_group_no_prof task_group;

} // namespace mtbb

#endif

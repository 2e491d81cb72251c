// SPDX-License-Identifier: Apache-2.0
// Loops that give their iterations to qthreads, or to futures. What runs is run(first, last) of an
// object; who calls waits until all have ended. Where no thread can be made, for want of memory or
// before qthread_initialize(), the caller of the loop runs that part itself.
#pragma once

#include "compat/qthread/library/places.hpp"

#include <qthread/futurelib.h>
#include <qthread/qthread.h>

#include <tulle/detail/loop_blocks.hpp>
#include <tulle/signal.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace tulle::compat {

enum class thread_kind { qthread, simple, future };

// False: no thread was made.
[[nodiscard]] inline bool start_thread(thread_kind kind, qthread_f f, void* arg,
                                       qthread_shepherd_id_t where) {
    if (kind == thread_kind::future) {
        return (where == NO_SHEPHERD ? future_fork(f, arg, nullptr)
                                     : future_fork_to(f, arg, nullptr, where)) == QTHREAD_SUCCESS;
    }
    unsigned const flags =
        kind == thread_kind::simple ? static_cast<unsigned>(QTHREAD_SPAWN_SIMPLE) : 0;
    return qthread_spawn(f, arg, 0, nullptr, 0, nullptr, where, flags) == QTHREAD_SUCCESS;
}

// As many parts as there are workers, but none is empty.
[[nodiscard]] inline std::size_t worker_parts(std::size_t start, std::size_t stop) {
    return std::min<std::size_t>(stop - start, std::max<std::size_t>(qthread_num_workers(), 1));
}

// Calls body(part, first, last) for each part of equal size, each by a thread of its own. Part k
// goes to the k-th shepherd that is enabled, modulo their number.
template <class Body> class part_loop {
public:
    part_loop(std::size_t start, std::size_t stop, std::size_t parts, Body& body)
        : m_start(start),
          m_body(body),
          m_parts(stop - start, parts),
          m_running(static_cast<std::uint32_t>(parts)) {}

    void run(thread_kind kind) {
        auto const parts = make_parts();
        active_shepherds const shepherds;
        for (std::size_t k = 0; k != m_parts.count(); ++k) {
            part here{this, k}; // where there is no memory for all
            part* const p = parts != nullptr ? &(parts[k] = here) : &here;
            if (p == &here || !start_thread(kind, run_part, p, shepherds[k])) run_part(p);
        }
        m_running.wait();
    }

private:
    struct part {
        part_loop* loop;
        std::size_t number;
    };
    [[nodiscard]] std::unique_ptr<part[]> make_parts() const {
        return std::unique_ptr<part[]>(new (std::nothrow) part[m_parts.count()]);
    }
    static aligned_t run_part(void* p) {
        auto const [loop, k] = *static_cast<part*>(p);
        loop->m_body(k, loop->m_start + loop->m_parts.begin(k),
                     loop->m_start + loop->m_parts.end(k));
        loop->m_running.notify(); // the last access
        return 0;
    }

    std::size_t m_start;
    Body& m_body;
    detail::loop_blocks m_parts;
    signal m_running;
};

template <class Body>
void run_parts(std::size_t start, std::size_t stop, std::size_t parts, thread_kind kind,
               Body body) {
    part_loop<Body>(start, stop, parts, body).run(kind);
}
// As many as there are workers. Nothing for no iterations.
template <class Body>
void run_parts(std::size_t start, std::size_t stop, thread_kind kind, Body const& body) {
    if (start < stop) run_parts(start, stop, worker_parts(start, stop), kind, body);
}

// Calls body(k) for k = 0, 1, ... count - 1, each by a thread of its own. A thread takes the next
// number when it starts, so that nothing needs to be kept for each.
template <class Body> class thread_loop {
public:
    explicit thread_loop(Body& body) : m_body(body) {}

    void run(std::size_t count, thread_kind kind) {
        while (count != 0) { // a signal counts to 2^31 - 1
            std::size_t const now = std::min<std::size_t>(count, k_most_at_once);
            run_some(now, kind);
            count -= now;
        }
    }

private:
    static constexpr std::size_t k_most_at_once = std::size_t{1} << 30U;
    static constexpr std::size_t k_least_to_share = 256; // that one thread alone would start

    void run_some(std::size_t count, thread_kind kind) {
        m_running.add_signalers(static_cast<std::uint32_t>(count));
        if (kind == thread_kind::future || count < k_least_to_share) {
            spawn(count, kind);
        } else {
            run_parts(0, count, thread_kind::qthread,
                      [=, this](std::size_t, std::size_t first, std::size_t last) {
                          spawn(last - first, kind);
                      });
        }
        m_running.wait();
    }
    void spawn(std::size_t count, thread_kind kind) {
        for (; count != 0; --count)
            if (!start_thread(kind, run_next, this, NO_SHEPHERD)) run_next(this);
    }
    static aligned_t run_next(void* p) {
        auto* const loop = static_cast<thread_loop*>(p);
        // relaxed: only a number of one's own is wanted
        loop->m_body(loop->m_next.fetch_add(1, std::memory_order_relaxed));
        loop->m_running.notify(); // the last access
        return 0;
    }

    Body& m_body;
    std::atomic<std::size_t> m_next{0};
    signal m_running;
};

// body(i) for start, start + stride, ... below stop. Nothing for no iterations or a stride of 0.
template <class Body>
void run_threads(std::size_t start, std::size_t stop, std::size_t stride, thread_kind kind,
                 Body const& body) {
    if (start >= stop || stride == 0) return;
    std::size_t const count = (stop - start - 1) / stride + 1;
    auto iteration = [=, &body](std::size_t k) { body(start + k * stride); };
    thread_loop<decltype(iteration)>(iteration).run(count, kind);
}

} // namespace tulle::compat

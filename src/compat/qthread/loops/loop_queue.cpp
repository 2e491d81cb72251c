// SPDX-License-Identifier: Apache-2.0
// Loops whose workers fetch iterations (qt_loop_queue_*). Iterations are counted in steps from 0;
// how many are fetched at a time depends on the first one only (factoring: Hummel, Schonberg and
// Flynn 1992, doi:10.1145/135226.135232), and for timed loops on the clock.
#include "compat/qthread/library/arguments.hpp"
#include "compat/qthread/library/places.hpp"

#include <qthread/qloop.h>
#include <qthread/qtimer.h>

#include <tulle/signal.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

struct qqloop_handle_s {
    qt_loop_queue_type type;
    std::size_t start, stop, incr;
    qt_loop_f func; // or, if null:
    qt_loop_step_f step_func;
    void* arg;
    std::size_t count; // steps
    std::size_t chunk;
    std::size_t workers; // as many as chunks are made for
    std::atomic<std::size_t> next{0};
    std::atomic<std::size_t> active{0}; // workers that have not left because of their shepherd
    tulle::signal running{0};
};

namespace {

using loop = qqloop_handle_s;
using tulle::compat::active_shepherds;
using tulle::compat::count_shepherds;
using tulle::compat::is_object;

constexpr double k_timed_chunk = 20e-6; // seconds that a chunk of a timed loop is to take

struct steps {
    std::size_t first = 0;
    std::size_t count = 0;
};

// What a worker of a timed loop knows of its last chunk.
struct pace {
    std::size_t chunk = 0;
    double seconds = 0;
};

std::size_t factored_chunk(loop const& l, std::size_t at) {
    for (std::size_t round = 0;;) {
        std::size_t const chunk = std::max<std::size_t>((l.count - round) / (2 * l.workers), 1);
        if (at - round < chunk * l.workers) return chunk;
        round += chunk * l.workers;
    }
}

// Twice as many while a chunk takes less than it should, half as many when it takes more.
std::size_t timed_chunk(loop const& l, std::size_t at, pace const& last) {
    if (last.chunk == 0) return 1;
    std::size_t const wanted =
        last.seconds < k_timed_chunk ? 2 * last.chunk : std::max<std::size_t>(last.chunk / 2, 1);
    return std::min(wanted, (l.count - at) / (2 * l.workers) + 1);
}

std::size_t chunk_at(loop const& l, std::size_t at, pace const& last) {
    switch (l.type) {
        case CHUNK: return l.chunk;
        case GUIDED: return std::max<std::size_t>((l.count - at) / l.workers, 1);
        case FACTORED: return factored_chunk(l, at);
        case TIMED: return timed_chunk(l, at, last);
    }
    return 1;
}

// relaxed: a thread needs only steps that nobody else has.
bool fetch(loop& l, pace const& last, steps& fetched) {
    std::size_t at = l.next.load(std::memory_order_relaxed);
    do {
        if (at >= l.count) return false;
        fetched = {at, std::min(chunk_at(l, at, last), l.count - at)};
    } while (!l.next.compare_exchange_weak(at, at + fetched.count, std::memory_order_relaxed,
                                           std::memory_order_relaxed));
    return true;
}

void run_steps(loop const& l, steps s) {
    if (l.func == nullptr) {
        for (std::size_t k = 0; k != s.count; ++k) l.step_func(l.arg);
        return;
    }
    std::size_t const first = l.start + s.first * l.incr;
    bool const is_last = s.first + s.count == l.count;
    l.func(first, is_last ? l.stop : first + s.count * l.incr, l.arg);
}

void run_timed(loop const& l, steps s, pace& last) {
    if (l.type != TIMED) return run_steps(l, s);
    double const begin = qtimer_wtime();
    run_steps(l, s);
    last = {s.count, qtimer_wtime() - begin};
}

// False for the last one, which must go on. relaxed: the workers share only the number.
bool may_leave(loop& l) {
    std::size_t active = l.active.load(std::memory_order_relaxed);
    do {
        if (active <= 1) return false;
    } while (!l.active.compare_exchange_weak(active, active - 1, std::memory_order_relaxed,
                                             std::memory_order_relaxed));
    return true;
}

aligned_t work(void* p) {
    auto& l = *static_cast<loop*>(p);
    pace last;
    steps s;
    while (fetch(l, last, s)) {
        run_timed(l, s, last);
        if (qthread_shep_ok() == 0 && may_leave(l)) break;
    }
    l.running.notify(); // the last access
    return 0;
}

void add_worker(loop& l, qthread_shepherd_id_t shepherd) {
    l.active.fetch_add(1, std::memory_order_relaxed); // relaxed: see may_leave
    l.running.add_signalers(1);
    if (qthread_fork_to(work, &l, nullptr, shepherd) != QTHREAD_SUCCESS) work(&l);
}

loop* make(qt_loop_queue_type type, std::size_t start, std::size_t stop, std::size_t incr,
           void* arg) {
    if (incr == 0 || type > TIMED) return nullptr;
    auto* const l = new (std::nothrow) loop{};
    if (l == nullptr) return nullptr;
    l->type = type;
    l->start = start;
    l->stop = std::max(start, stop);
    l->incr = incr;
    l->arg = arg;
    l->count = (l->stop - start) / incr + ((l->stop - start) % incr != 0 ? 1 : 0);
    l->workers = std::max<std::size_t>(qthread_num_workers(), 1);
    l->chunk = std::max<std::size_t>(l->count / l->workers / 10, 1);
    return l;
}

} // namespace

qqloop_handle_t* qt_loop_queue_create(qt_loop_queue_type const type, size_t const start,
                                      size_t const stop, size_t const incr, qt_loop_f const func,
                                      void* const argptr) {
    loop* const l = func != nullptr ? make(type, start, stop, incr, argptr) : nullptr;
    if (l != nullptr) l->func = func;
    return l;
}

qqloop_step_handle_t* qt_loop_step_queue_create(qt_loop_queue_type const type, size_t start,
                                                size_t stop, size_t incr, qt_loop_step_f func,
                                                void* argptr) {
    loop* const l = func != nullptr ? make(type, start, stop, incr, argptr) : nullptr;
    if (l != nullptr) l->step_func = func;
    return reinterpret_cast<qqloop_step_handle_t*>(l);
}

void qt_loop_queue_setchunk(qqloop_handle_t* l, size_t chunk) {
    if (is_object(l)) l->chunk = std::max<std::size_t>(chunk, 1);
}

void qt_loop_queue_run(qqloop_handle_t* l) {
    if (!is_object(l)) return;
    std::unique_ptr<loop> const owner(l);
    active_shepherds const shepherds;
    for (std::size_t k = 0; k != std::min(l->workers, l->count); ++k) add_worker(*l, shepherds[k]);
    l->running.wait();
}

void qt_loop_queue_run_there(qqloop_handle_t* l, qthread_shepherd_id_t shep) {
    if (!is_object(l) || shep >= count_shepherds()) return;
    std::unique_ptr<loop> const owner(l);
    l->workers = 1;
    add_worker(*l, shep);
    l->running.wait();
}

void qt_loop_queue_addworker(qqloop_handle_t* l, qthread_shepherd_id_t const shep) {
    if (is_object(l) && shep < count_shepherds()) add_worker(*l, shep);
}

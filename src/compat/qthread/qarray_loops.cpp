// SPDX-License-Identifier: Apache-2.0
// Loops over arrays: a qthread on each shepherd to which segments of the range belong, which goes
// through those in order.
#include "compat/qthread/loop_threads.hpp"
#include "compat/qthread/segments.hpp"

#include <qthread/qarray.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

namespace {

using namespace tulle::compat;

// Units, and to whom their segments belong: asked once, as that may change meanwhile.
class unit_range {
public:
    // Errors: std::bad_alloc.
    unit_range(qarray const* a, std::size_t from, std::size_t to)
        : m_array(as_segmented(a)), m_start(from), m_stop(std::min(to, a->count)) {
        if (is_empty()) return;
        for (std::size_t s = first_segment(); s <= m_array.segment_of(m_stop - 1); ++s)
            m_owners.push_back(m_array.owner(s));
    }
    [[nodiscard]] bool is_empty() const noexcept { return m_start >= m_stop; }
    // Each owner once, in ascending order.
    [[nodiscard]] std::vector<qthread_shepherd_id_t> shepherds() const {
        auto found = m_owners;
        std::sort(found.begin(), found.end());
        found.erase(std::unique(found.begin(), found.end()), found.end());
        return found;
    }
    // f(from, to) for the units of each segment that belongs to the shepherd.
    template <class F> void visit(qthread_shepherd_id_t owner, F const& f) const {
        for (std::size_t k = 0; k != m_owners.size(); ++k) {
            std::size_t const s = first_segment() + k;
            if (m_owners[k] == owner) f(m_array.begin(s, m_start), m_array.end(s, m_stop));
        }
    }

private:
    [[nodiscard]] std::size_t first_segment() const noexcept { return m_array.segment_of(m_start); }

    segmented_array const& m_array;
    std::size_t m_start, m_stop;
    std::vector<qthread_shepherd_id_t> m_owners;
};

// Calls body(k, shepherd) on each shepherd of the list, by a qthread.
template <class Body> class shepherd_loop {
public:
    shepherd_loop(std::vector<qthread_shepherd_id_t> const& where, Body const& body)
        : m_where(where), m_body(body), m_running(static_cast<std::uint32_t>(where.size())) {}
    // Errors: std::bad_alloc, before anything has run.
    void run() {
        std::vector<part> parts(m_where.size());
        for (std::size_t k = 0; k != parts.size(); ++k) {
            parts[k] = {this, k};
            if (!start_thread(thread_kind::qthread, run_part, &parts[k], m_where[k]))
                run_part(&parts[k]);
        }
        m_running.wait();
    }

private:
    struct part {
        shepherd_loop* loop;
        std::size_t number;
    };
    static aligned_t run_part(void* p) {
        auto const [loop, k] = *static_cast<part*>(p);
        loop->m_body(k, loop->m_where[k]);
        loop->m_running.notify(); // the last access
        return 0;
    }

    std::vector<qthread_shepherd_id_t> const& m_where;
    Body const& m_body;
    tulle::signal m_running;
};

// f(from, to) for the units of each segment, where the segment belongs.
template <class F> void for_segments(unit_range const& r, F const& f) {
    if (r.is_empty()) return;
    auto const where = r.shepherds();
    auto const body = [&](std::size_t, qthread_shepherd_id_t owner) { r.visit(owner, f); };
    shepherd_loop<decltype(body)>(where, body).run();
}

// The result of one shepherd's segments: the first goes to `result`, the others follow by acc.
struct accumulator {
    void* result;
    std::vector<std::byte> other;
    bool has_result = false;

    template <class F> void add(F const& f, qt_accum_f acc) {
        f(has_result ? other.data() : result);
        if (has_result) acc(result, other.data());
        has_result = true;
    }
};

struct later_loop {
    qarray* array;
    std::size_t start, stop;
    qa_loop_f func;
    void* arg;
};

aligned_t run_later(void* p) {
    std::unique_ptr<later_loop> const l(static_cast<later_loop*>(p));
    qarray_iter_loop(l->array, l->start, l->stop, l->func, l->arg);
    return 0;
}

} // namespace

void qarray_iter(qarray* a, size_t const startat, size_t const stopat, qthread_f func) {
    if (a == nullptr || func == nullptr) return;
    for_segments({a, startat, stopat}, [=](std::size_t from, std::size_t to) {
        auto* unit = static_cast<char*>(qarray_elem_nomigrate(a, from));
        for (std::size_t i = from; i != to; ++i, unit += a->unit_size) func(unit);
    });
}

void qarray_iter_loop(qarray* a, size_t const startat, size_t const stopat, qa_loop_f func,
                      void* arg) {
    if (a == nullptr || func == nullptr) return;
    for_segments({a, startat, stopat},
                 [=](std::size_t from, std::size_t to) { func(from, to, a, arg); });
}

void qarray_iter_constloop(qarray const* a, size_t const startat, size_t const stopat,
                           qa_cloop_f func, void* arg) {
    if (a == nullptr || func == nullptr) return;
    for_segments({a, startat, stopat},
                 [=](std::size_t from, std::size_t to) { func(from, to, a, arg); });
}

// Without memory or a thread the caller waits for the loop here.
void qarray_iter_loop_nb(qarray* a, size_t const startat, size_t const stopat, qa_loop_f func,
                         void* arg, aligned_t* ret) {
    auto* const later = new (std::nothrow) later_loop{a, startat, stopat, func, arg};
    if (later != nullptr && qthread_fork(run_later, later, ret) == QTHREAD_SUCCESS) return;
    delete later;
    qarray_iter_loop(a, startat, stopat, func, arg);
    if (ret != nullptr) qthread_writeF_const(ret, 0);
}

void qarray_iter_loopaccum(qarray* a, size_t const startat, size_t const stopat, qa_loopr_f func,
                           void* arg, void* ret, size_t const retsize, qt_accum_f acc) {
    if (a == nullptr || func == nullptr || acc == nullptr || ret == nullptr) return;
    unit_range const range(a, startat, stopat);
    if (range.is_empty()) return;
    auto const where = range.shepherds();
    std::vector<std::vector<std::byte>> results(where.size(), std::vector<std::byte>(retsize));
    auto const body = [&](std::size_t k, qthread_shepherd_id_t owner) {
        accumulator sum{results[k].data(), std::vector<std::byte>(retsize)};
        range.visit(owner, [&](std::size_t from, std::size_t to) {
            sum.add([&](void* r) { func(from, to, a, arg, r); }, acc);
        });
    };
    shepherd_loop<decltype(body)>(where, body).run();
    std::memcpy(ret, results[0].data(), retsize);
    for (std::size_t k = 1; k != results.size(); ++k) acc(ret, results[k].data());
}

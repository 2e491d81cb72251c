// SPDX-License-Identifier: Apache-2.0
// Loops over arrays: a qthread on each shepherd to which segments of the range belong, which goes
// through those in order.
#include "compat/qthread/library/arguments.hpp"
#include "compat/qthread/loops/loop_threads.hpp"
#include "compat/qthread/loops/segments.hpp"

#include <qthread/qarray.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <utility>
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

// What a loop needs to know and to keep before it begins.
struct loop_plan {
    struct part {
        void* loop;
        std::size_t number;
    };
    unit_range range;
    std::vector<qthread_shepherd_id_t> where; // shepherds that have something to do
    std::vector<part> parts;                  // one for each

    // Errors: std::bad_alloc.
    loop_plan(qarray const* a, std::size_t from, std::size_t to)
        : range(a, from, to), where(range.shepherds()), parts(where.size()) {}

    // None: no memory.
    [[nodiscard]] static std::optional<loop_plan> make(qarray const* a, std::size_t from,
                                                       std::size_t to) noexcept try {
        return std::optional<loop_plan>(std::in_place, a, from, to);
    } catch (std::bad_alloc const&) {
        return std::nullopt;
    }
};

// Calls body(k, shepherd) on each shepherd of the plan, by a qthread.
template <class Body> class shepherd_loop {
public:
    shepherd_loop(loop_plan& plan, Body const& body)
        : m_plan(plan), m_body(body), m_running(static_cast<std::uint32_t>(plan.where.size())) {}
    void run() {
        for (std::size_t k = 0; k != m_plan.parts.size(); ++k) {
            loop_plan::part& p = m_plan.parts[k];
            p = {this, k};
            if (!start_thread(thread_kind::qthread, run_part, &p, m_plan.where[k])) run_part(&p);
        }
        m_running.wait();
    }

private:
    static aligned_t run_part(void* p) {
        auto const [which, k] = *static_cast<loop_plan::part*>(p);
        auto* const self = static_cast<shepherd_loop*>(which);
        self->m_body(k, self->m_plan.where[k]);
        self->m_running.notify(); // the last access
        return 0;
    }

    loop_plan& m_plan;
    Body const& m_body;
    tulle::signal m_running;
};

// By the caller, in the order of the segments.
template <class F>
void for_segments_here(segmented_array const& a, std::size_t start, std::size_t stop, F const& f) {
    if (start >= stop) return;
    for (std::size_t s = a.segment_of(start); s <= a.segment_of(stop - 1); ++s)
        f(a.begin(s, start), a.end(s, stop));
}

// f(from, to) for the units of each segment, where the segment belongs; without memory, here.
template <class F>
void for_segments(qarray const* a, std::size_t start, std::size_t stop, F const& f) {
    if (!is_object(a)) return;
    std::optional<loop_plan> plan = loop_plan::make(a, start, stop);
    if (!plan) return for_segments_here(as_segmented(a), start, std::min(stop, a->count), f);
    auto const body = [&](std::size_t, qthread_shepherd_id_t owner) {
        plan->range.visit(owner, f);
    };
    shepherd_loop<decltype(body)>(*plan, body).run();
}

// The result of one shepherd's segments: the first goes to `result`, the others follow by acc.
struct accumulator {
    void* result;
    void* other;
    bool has_result = false;

    template <class F> void add(F const& f, qt_accum_f acc) {
        f(has_result ? other : result);
        if (has_result) acc(result, other);
        has_result = true;
    }
};

// Two results for each shepherd of a plan.
class accumulators {
public:
    accumulators(std::byte* memory, std::size_t size) noexcept : m_memory(memory), m_size(size) {}
    [[nodiscard]] accumulator of(std::size_t k) const noexcept {
        return {m_memory + 2 * k * m_size, m_memory + (2 * k + 1) * m_size};
    }

private:
    std::byte* m_memory;
    std::size_t m_size;
};

std::unique_ptr<std::byte[]> memory_for(std::size_t results, std::size_t size) noexcept {
    constexpr std::size_t k_most = std::size_t{1} << k_address_bits;
    if (size > k_most / (results + 1)) return nullptr;
    return std::unique_ptr<std::byte[]>(new (std::nothrow) std::byte[results * size + 1]{});
}

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
    if (func == nullptr) return;
    for_segments(a, startat, stopat, [=](std::size_t from, std::size_t to) {
        auto* unit = static_cast<char*>(qarray_elem_nomigrate(a, from));
        for (std::size_t i = from; i != to; ++i, unit += a->unit_size) func(unit);
    });
}

void qarray_iter_loop(qarray* a, size_t const startat, size_t const stopat, qa_loop_f func,
                      void* arg) {
    if (func == nullptr) return;
    for_segments(a, startat, stopat,
                 [=](std::size_t from, std::size_t to) { func(from, to, a, arg); });
}

void qarray_iter_constloop(qarray const* a, size_t const startat, size_t const stopat,
                           qa_cloop_f func, void* arg) {
    if (func == nullptr) return;
    for_segments(a, startat, stopat,
                 [=](std::size_t from, std::size_t to) { func(from, to, a, arg); });
}

// Without memory or a thread the caller waits for the loop here.
void qarray_iter_loop_nb(qarray* a, size_t const startat, size_t const stopat, qa_loop_f func,
                         void* arg, aligned_t* ret) {
    if (!is_object(a) || func == nullptr || !is_object_or_null(ret)) return;
    auto* const later = new (std::nothrow) later_loop{a, startat, stopat, func, arg};
    if (later != nullptr && qthread_fork(run_later, later, ret) == QTHREAD_SUCCESS) return;
    delete later;
    qarray_iter_loop(a, startat, stopat, func, arg);
    if (ret != nullptr) qthread_writeF_const(ret, 0);
}

void qarray_iter_loopaccum(qarray* a, size_t const startat, size_t const stopat, qa_loopr_f func,
                           void* arg, void* ret, size_t const retsize, qt_accum_f acc) {
    if (!is_object(a) || func == nullptr || acc == nullptr) return;
    if (ret == nullptr || !is_bytes(ret, retsize)) return;
    std::optional<loop_plan> plan = loop_plan::make(a, startat, stopat);
    auto const memory = plan ? memory_for(2 * plan->where.size(), retsize) : nullptr;
    if (memory == nullptr) {
        errno = ENOMEM;
        return;
    }
    if (plan->range.is_empty()) return;
    accumulators const results(memory.get(), retsize);
    auto const body = [&](std::size_t k, qthread_shepherd_id_t owner) {
        accumulator sum = results.of(k);
        plan->range.visit(owner, [&](std::size_t from, std::size_t to) {
            sum.add([&](void* r) { func(from, to, a, arg, r); }, acc);
        });
    };
    shepherd_loop<decltype(body)>(*plan, body).run();
    std::memcpy(ret, results.of(0).result, retsize);
    for (std::size_t k = 1; k != plan->where.size(); ++k) acc(ret, results.of(k).result);
}

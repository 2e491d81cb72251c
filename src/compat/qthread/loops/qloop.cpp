// SPDX-License-Identifier: Apache-2.0
// The loops of <qthread/qloop.h> that have a qthread for each iteration or each worker.
#include "compat/qthread/library/arguments.hpp"
#include "compat/qthread/loops/loop_threads.hpp"

#include <qthread/qloop.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <new>

namespace {

using namespace tulle::compat;

// --- a thread for each iteration -----------------------------------------------------------------

void loop_over(std::size_t start, std::size_t stop, qt_loop_f func, void* arg, thread_kind kind) {
    if (func == nullptr) return;
    run_threads(start, stop, 1, kind, [=](std::size_t i) { func(i, i + 1, arg); });
}

template <class Func, class... Args>
void stride_loop(std::size_t start, std::size_t stop, std::size_t stride, thread_kind kind,
                 Func func, Args... args) {
    if (func == nullptr) return;
    run_threads(start, stop, stride, kind, [=](std::size_t) { func(args...); });
}

// --- a thread for each worker --------------------------------------------------------------------

void balance(std::size_t start, std::size_t stop, qt_loop_f func, void* arg, thread_kind kind) {
    if (func == nullptr) return;
    run_parts(start, stop, kind,
              [=](std::size_t, std::size_t first, std::size_t last) { func(first, last, arg); });
}

void balance_me(std::size_t start, std::size_t stop, qt_loop_me_f func, void* arg,
                thread_kind kind) {
    if (func == nullptr) return;
    run_parts(start, stop, kind, [=](std::size_t, std::size_t first, std::size_t last) {
        func(nullptr, first, last, arg);
    });
}

// The results of the parts but the first, on cache lines of their own.
class results {
public:
    results(std::size_t parts, std::size_t size) noexcept
        : m_stride((std::max<std::size_t>(size, 1) + k_line - 1) / k_line * k_line) {
        if (size > k_most / (parts + 1)) return;
        m_bytes.reset(new (std::nothrow) std::byte[(parts + 1) * m_stride]{});
        if (m_bytes == nullptr) return;
        void* begin = m_bytes.get();
        std::size_t room = (parts + 1) * m_stride;
        m_begin = static_cast<std::byte*>(std::align(k_line, parts * m_stride, begin, room));
    }
    // Else there was no memory for them.
    [[nodiscard]] bool are_there() const noexcept { return m_begin != nullptr; }
    [[nodiscard]] void* operator[](std::size_t part) const noexcept {
        return m_begin + part * m_stride;
    }

private:
    static constexpr std::size_t k_line = 64;
    static constexpr std::size_t k_most = std::size_t{1} << k_address_bits;
    std::size_t m_stride;
    std::unique_ptr<std::byte[]> m_bytes;
    std::byte* m_begin = nullptr;
};

enum class accumulation { first_replaces, with_what_is_there };

// func(first, last, result) for each part; combine(out, result) in order. Without memory for the
// results the caller runs all in one part.
template <class Func, class Combine>
void accumulate(std::size_t start, std::size_t stop, std::size_t size, void* out, thread_kind kind,
                accumulation how, Func const& func, Combine const& combine) {
    if (start >= stop || out == nullptr || !is_bytes(out, size)) return;
    std::size_t const parts = worker_parts(start, stop);
    // Parts whose result goes to `out`.
    std::size_t const kept = how == accumulation::first_replaces ? 1 : 0;
    results const values(parts, size);
    if (!values.are_there()) {
        if (kept == 1) return func(start, stop, out);
        errno = ENOMEM;
        return;
    }
    run_parts(start, stop, parts, kind, [&](std::size_t part, std::size_t first, std::size_t last) {
        func(first, last, part < kept ? out : values[part]);
    });
    for (std::size_t part = kept; part != parts; ++part) combine(out, values[part]);
}

void accumulate(std::size_t start, std::size_t stop, std::size_t size, void* out, qt_loopr_f func,
                void* arg, qt_accum_f acc, thread_kind kind, accumulation how) {
    if (func == nullptr || acc == nullptr) return;
    accumulate(
        start, stop, size, out, kind, how,
        [=](std::size_t first, std::size_t last, void* ret) { func(first, last, arg, ret); }, acc);
}

void accumulate_me(std::size_t start, std::size_t stop, std::size_t size, void* out,
                   qt_loopr_me_f func, void* arg, qt_accum_me_f acc, thread_kind kind) {
    if (func == nullptr || acc == nullptr) return;
    accumulate(
        start, stop, size, out, kind, accumulation::first_replaces,
        [=](std::size_t first, std::size_t last, void* ret) {
            func(nullptr, first, last, arg, ret);
        },
        acc);
}

} // namespace

void qt_loop(size_t start, size_t stop, qt_loop_f func, void* argptr) {
    loop_over(start, stop, func, argptr, thread_kind::qthread);
}
void qt_loop_sv(size_t start, size_t stop, qt_loop_f func, void* argptr) {
    loop_over(start, stop, func, argptr, thread_kind::qthread);
}
void qt_loop_dc(size_t start, size_t stop, qt_loop_f func, void* argptr) {
    loop_over(start, stop, func, argptr, thread_kind::qthread);
}
void qt_loop_aligned(size_t start, size_t stop, qt_loop_f func, void* argptr) {
    loop_over(start, stop, func, argptr, thread_kind::qthread);
}
void qt_loop_sinc(size_t start, size_t stop, qt_loop_f func, void* argptr) {
    loop_over(start, stop, func, argptr, thread_kind::qthread);
}
void qt_loop_simple(size_t start, size_t stop, qt_loop_f func, void* argptr) {
    loop_over(start, stop, func, argptr, thread_kind::simple);
}
void qt_loop_future(size_t start, size_t stop, qt_loop_f func, void* argptr) {
    loop_over(start, stop, func, argptr, thread_kind::future);
}

void qt_loop_step(size_t start, size_t stop, size_t stride, qt_loop_step_f func, void* argptr) {
    stride_loop(start, stop, stride, thread_kind::qthread, func, argptr);
}
void qt_loop_stride(size_t start, size_t stop, size_t stride, qthread_f func, void* argptr) {
    stride_loop(start, stop, stride, thread_kind::qthread, func, argptr);
}
void qt_loop_stride_me(size_t start, size_t stop, size_t stride, qthread_me_f func, void* argptr) {
    stride_loop(start, stop, stride, thread_kind::qthread, func, static_cast<qthread_t*>(nullptr),
                argptr);
}
void qt_loop_future_stride(size_t start, size_t stop, size_t stride, qthread_f func, void* argptr) {
    stride_loop(start, stop, stride, thread_kind::future, func, argptr);
}
void qt_loop_future_stride_me(size_t start, size_t stop, size_t stride, qthread_me_f func,
                              void* argptr) {
    stride_loop(start, stop, stride, thread_kind::future, func, static_cast<qthread_t*>(nullptr),
                argptr);
}

void qt_loop_balance(size_t const start, size_t const stop, qt_loop_f const func, void* argptr) {
    balance(start, stop, func, argptr, thread_kind::qthread);
}
void qt_loop_balance_sv(size_t const start, size_t const stop, qt_loop_f const func, void* argptr) {
    balance(start, stop, func, argptr, thread_kind::qthread);
}
void qt_loop_balance_dc(size_t const start, size_t const stop, qt_loop_f const func, void* argptr) {
    balance(start, stop, func, argptr, thread_kind::qthread);
}
void qt_loop_balance_aligned(size_t const start, size_t const stop, qt_loop_f const func,
                             void* argptr) {
    balance(start, stop, func, argptr, thread_kind::qthread);
}
void qt_loop_balance_sinc(size_t const start, size_t const stop, qt_loop_f const func,
                          void* argptr) {
    balance(start, stop, func, argptr, thread_kind::qthread);
}
void qt_loop_balance_simple(size_t const start, size_t const stop, qt_loop_f const func,
                            void* argptr) {
    balance(start, stop, func, argptr, thread_kind::simple);
}
void qt_loop_balance_future(size_t const start, size_t const stop, qt_loop_f const func,
                            void* argptr) {
    balance(start, stop, func, argptr, thread_kind::future);
}
void qt_loop_balance_me(size_t start, size_t stop, qt_loop_me_f func, void* argptr) {
    balance_me(start, stop, func, argptr, thread_kind::qthread);
}
void qt_loop_balance_future_me(size_t start, size_t stop, qt_loop_me_f func, void* argptr) {
    balance_me(start, stop, func, argptr, thread_kind::future);
}

void qt_loopaccum_balance(size_t const start, size_t const stop, size_t const size, void* out,
                          qt_loopr_f const func, void* argptr, qt_accum_f const acc) {
    accumulate(start, stop, size, out, func, argptr, acc, thread_kind::qthread,
               accumulation::first_replaces);
}
void qt_loopaccum_balance_sv(size_t const start, size_t const stop, size_t const size, void* out,
                             qt_loopr_f const func, void* argptr, qt_accum_f const acc) {
    accumulate(start, stop, size, out, func, argptr, acc, thread_kind::qthread,
               accumulation::first_replaces);
}
void qt_loopaccum_balance_dc(size_t const start, size_t const stop, size_t const size, void* out,
                             qt_loopr_f const func, void* argptr, qt_accum_f const acc) {
    accumulate(start, stop, size, out, func, argptr, acc, thread_kind::qthread,
               accumulation::first_replaces);
}
void qt_loopaccum_balance_sinc(size_t const start, size_t const stop, size_t const size, void* out,
                               qt_loopr_f const func, void* argptr, qt_accum_f const acc) {
    accumulate(start, stop, size, out, func, argptr, acc, thread_kind::qthread,
               accumulation::with_what_is_there);
}
void qt_loopaccum_balance_future(size_t const start, size_t const stop, size_t const size,
                                 void* out, qt_loopr_f const func, void* argptr,
                                 qt_accum_f const acc) {
    accumulate(start, stop, size, out, func, argptr, acc, thread_kind::future,
               accumulation::first_replaces);
}
void qt_loopaccum_balance_me(size_t start, size_t stop, size_t size, void* out, qt_loopr_me_f func,
                             void* argptr, qt_accum_me_f acc) {
    accumulate_me(start, stop, size, out, func, argptr, acc, thread_kind::qthread);
}
void qt_loopaccum_balance_future_me(size_t start, size_t stop, size_t size, void* out,
                                    qt_loopr_me_f func, void* argptr, qt_accum_me_f acc) {
    accumulate_me(start, stop, size, out, func, argptr, acc, thread_kind::future);
}

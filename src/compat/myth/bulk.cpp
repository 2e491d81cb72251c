// SPDX-License-Identifier: Apache-2.0
// Many threads at once, by halves: each thread makes one for the first half of what it has, and
// goes on with the second, down to the one call that is its own.
#include "compat/myth/library.hpp"
#include "compat/myth/thread.hpp"

#include <tulle/detail/attributes.hpp>

#include <algorithm>

namespace tulle::myth {
namespace {

// An array that the program gives by its first element and a stride in bytes.
template <class T> struct strided {
    T* first;
    std::size_t stride;

    [[nodiscard]] T* at(long k) const noexcept {
        if (first == nullptr) return nullptr;
        return reinterpret_cast<T*>(reinterpret_cast<std::byte*>(first) +
                                    static_cast<std::size_t>(k) * stride);
    }
};

struct calls {
    strided<myth_thread_t> ids;
    strided<myth_thread_attr_t> attributes;
    strided<myth_func_t> functions;
    void* arguments;
    std::size_t argument_stride;
    strided<void*> results;
    void const* site;

    // The frames above have threads to join, so that myth_exit ends no more than the call.
    void make_one(long k) const noexcept {
        if (myth_thread_t* const id = ids.at(k)) *id = myth_self();
        void* result = nullptr;
        try {
            result = (*functions.at(k))(argument_of(k));
        } catch (exit_request const& wanted) {
            result = wanted.result;
        }
        if (void** const place = results.at(k)) *place = result;
    }
    // By numbers: what is no address is an argument, too.
    [[nodiscard]] void* argument_of(long k) const noexcept {
        auto const first = reinterpret_cast<std::uintptr_t>(arguments);
        auto const offset = static_cast<std::uintptr_t>(k) * argument_stride;
        return reinterpret_cast<void*>(first + offset); // NOLINT(performance-no-int-to-ptr)
    }
};

struct part {
    calls const& all;
    long begin, end;
    int error = 0; // the first that was met
};

int run_part(part& p);

void* run_child(void* p) {
    run_part(*static_cast<part*>(p));
    return nullptr;
}

// Its maker joins it whatever the attributes say of that.
int create_joined(myth_thread_t& made, part& p, calls const& all, long k) {
    myth_thread_attr_t const* const wanted = all.attributes.at(k);
    if (wanted == nullptr) return create(&made, nullptr, &run_child, &p, all.site);
    myth_thread_attr_t how = *wanted;
    if (how.detachstate == PTHREAD_CREATE_DETACHED) how.detachstate = PTHREAD_CREATE_JOINABLE;
    return create(&made, &how, &run_child, &p, all.site);
}

int run_part(part& p) {
    if (p.end - p.begin == 1) {
        p.all.make_one(p.begin);
        return 0;
    }
    long const middle = p.begin + (p.end - p.begin) / 2;
    part first{p.all, p.begin, middle};
    part second{p.all, middle, p.end};
    myth_thread_t child = nullptr;
    p.error = create_joined(child, first, p.all, p.begin);
    if (p.error != 0) return p.error;
    int const error = run_part(second);
    p.error = join(child, nullptr);
    if (p.error == 0) p.error = first.error;
    if (p.error == 0) p.error = error;
    return p.error;
}

int run_all(calls const& all, long threads) {
    if (threads < 0) return EINVAL;
    if (threads == 0) return 0;
    if (int const error = ensure_started()) return error;
    part whole{all, 0, threads};
    if (running() != nullptr) return run_part(whole);
    // The last call is the caller's own, and it is to be one of a thread of this interface.
    myth_thread_t first = nullptr;
    int error = create_joined(first, whole, all, 0);
    if (error == 0) error = join(first, nullptr);
    return error != 0 ? error : whole.error;
}

} // namespace
} // namespace tulle::myth

using namespace tulle::myth;

int myth_create_join_many_ex(myth_thread_t* ids, myth_thread_attr_t* attrs, myth_func_t func,
                             void* args, void* results, size_t id_stride, size_t attr_stride,
                             size_t arg_stride, size_t result_stride, long nthreads) {
    if (func == nullptr) return EINVAL;
    return run_all({{ids, id_stride},
                    {attrs, attr_stride},
                    {&func, 0},
                    args,
                    arg_stride,
                    {static_cast<void**>(results), result_stride},
                    __builtin_return_address(0)},
                   nthreads);
}

int myth_create_join_various_ex(myth_thread_t* ids, myth_thread_attr_t* attrs, myth_func_t* funcs,
                                void* args, void* results, size_t id_stride, size_t attr_stride,
                                size_t func_stride, size_t arg_stride, size_t result_stride,
                                long nthreads) {
    if (funcs == nullptr) return EINVAL;
    calls const all{{ids, id_stride},
                    {attrs, attr_stride},
                    {funcs, func_stride},
                    args,
                    arg_stride,
                    {static_cast<void**>(results), result_stride},
                    __builtin_return_address(0)};
    for (long k = 0; k < nthreads; ++k)
        if (*all.functions.at(k) == nullptr) return EINVAL;
    return run_all(all, nthreads);
}

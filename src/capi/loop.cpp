// SPDX-License-Identifier: Apache-2.0
// The C functions of <tulle/c/loop.h>.
#include "capi/without_exceptions.hpp"

#include <tulle/algorithm.hpp>
#include <tulle/c/loop.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

namespace {

using namespace tulle;

// A flag of C as a token.
struct c_flag {
    int const* word;
    // acquire pairs with the store that sets it, as far as C knows.
    [[nodiscard]] bool stop_requested() const noexcept {
        return __atomic_load_n(word, __ATOMIC_ACQUIRE) != 0;
    }
};

bool find_schedule(tulle_loop_options const& o, schedule& found) {
    std::uint64_t const chunk = o.chunk == 0 ? 1 : o.chunk;
    switch (o.schedule) {
        case TULLE_AUTOMATIC: found = schedule::automatic(chunk); return true;
        case TULLE_EVEN: found = schedule::even(); return true;
        case TULLE_DYNAMIC: found = schedule::dynamic(chunk); return true;
        case TULLE_GUIDED: found = schedule::guided(chunk); return true;
        case TULLE_ONE_THREAD_EACH: found = schedule::one_thread_each(); return true;
    }
    return false;
}

// As the loop itself would throw std::length_error, which functions may do, too.
bool is_too_long(std::uint64_t count, schedule how) {
    constexpr std::uint64_t k_most = std::uint64_t{1} << 63U;
    constexpr std::uint64_t k_most_threads = INT32_MAX;
    return count > (how.kind() == detail::schedule_kind::threads ? k_most_threads : k_most);
}

// Calls f(options), which says whether all of so many iterations have run.
template <class F>
int with_options(std::uint64_t count, tulle_loop_options const* options, F f) noexcept {
    tulle_loop_options const given =
        options != nullptr ? *options : tulle_loop_options TULLE_LOOP_INIT;
    schedule how;
    if (!find_schedule(given, how)) return -EINVAL;
    if (is_too_long(count, how)) return -EOVERFLOW;
    c_flag const flag{given.stop};
    return capi::without_exceptions([&] {
        return f(loop_options(how, flag.word != nullptr ? loop_stop(flag) : loop_stop()))
                   ? 0
                   : -ECANCELED;
    });
}

template <class F>
int for_array(double const* array, std::size_t count, double const* result, F f) noexcept {
    if (result == nullptr || (array == nullptr && count != 0)) return -EINVAL;
    return capi::without_exceptions([&] {
        f();
        return 0;
    });
}

// Brings the elements of `array`, to which `order` points, into that order.
void bring_into_order(std::byte* array, std::size_t size,
                      std::vector<std::byte const*> const& order) {
    std::unique_ptr<std::byte[]> const sorted(new std::byte[order.size() * size]);
    parallel_for(std::size_t{0}, order.size(),
                 [&](std::size_t i) { std::memcpy(sorted.get() + i * size, order[i], size); });
    std::memcpy(array, sorted.get(), order.size() * size);
}

} // namespace

extern "C" {

int tulle_loop_for(int64_t begin, int64_t end, int64_t step, void (*function)(int64_t, void*),
                   void* argument, tulle_loop_options const* options) {
    if (function == nullptr || step == 0) return -EINVAL;
    return with_options(detail::count_steps(begin, end, step), options, [=](loop_options const& o) {
        auto const body = [=](int64_t i) { function(i, argument); };
        return step == 1 ? parallel_for(begin, end, body, o)
                         : parallel_for(begin, end, step, body, o);
    });
}
int tulle_loop_chunks(int64_t begin, int64_t end, void (*function)(int64_t, int64_t, void*),
                      void* argument, tulle_loop_options const* options) {
    if (function == nullptr) return -EINVAL;
    std::uint64_t const count = detail::count_between(begin, end);
    return with_options(count, options, [=](loop_options const& o) {
        return detail::run_chunks(count, o, [=](std::uint64_t first, std::uint64_t last) {
            function(detail::index_at(begin, first), detail::index_at(begin, last), argument);
        });
    });
}
int tulle_loop_parts(int64_t begin, int64_t end, void (*function)(size_t, int64_t, int64_t, void*),
                     void* argument, int const* stop) {
    if (function == nullptr) return -EINVAL;
    tulle_loop_options const options{TULLE_AUTOMATIC, 0, stop};
    return with_options(detail::count_between(begin, end), &options, [=](loop_options const& o) {
        auto const body = [=](std::uint64_t part, int64_t first, int64_t last) {
            function(static_cast<size_t>(part), first, last, argument);
        };
        return parallel_for_parts(begin, end, body, o.until);
    });
}
int tulle_loop_accumulate(int64_t begin, int64_t end, size_t size, void* result,
                          void (*function)(int64_t, int64_t, void*, void*), void* argument,
                          void (*accumulate)(void*, void const*)) {
    if (function == nullptr || accumulate == nullptr || result == nullptr || size == 0)
        return -EINVAL;
    std::uint64_t const count = detail::count_between(begin, end);
    if (count == 0) return 0;
    if (is_too_long(count, schedule::dynamic())) return -EOVERFLOW;
    // The number of workers may change meanwhile.
    detail::loop_blocks const parts(count, std::min(count, detail::loop_width()));
    constexpr std::size_t k_alignment = alignof(std::max_align_t);
    if (size > PTRDIFF_MAX / parts.count() - k_alignment) return -ENOMEM;
    std::size_t const stride = (size + k_alignment - 1) / k_alignment * k_alignment;
    return capi::without_exceptions([=] {
        std::vector<std::byte> values(parts.count() * stride);
        detail::run_chunks(parts.count(), {schedule::dynamic()},
                           [&](std::uint64_t part, std::uint64_t end_part) {
                               for (; part != end_part; ++part)
                                   function(detail::index_at(begin, parts.begin(part)),
                                            detail::index_at(begin, parts.end(part)), argument,
                                            values.data() + part * stride);
                           });
        for (std::size_t part = 0; part != parts.count(); ++part)
            accumulate(result, values.data() + part * stride);
        return 0;
    });
}

int tulle_loop_sum(double const* array, size_t count, double* sum) {
    return for_array(array, count, sum, [=] { *sum = parallel_sum(array, array + count); });
}
int tulle_loop_product(double const* array, size_t count, double* product) {
    return for_array(array, count, product,
                     [=] { *product = parallel_product(array, array + count); });
}
int tulle_loop_min(double const* array, size_t count, double* min) {
    if (count == 0) return -EINVAL;
    return for_array(array, count, min,
                     [=] { *min = *parallel_min_element(array, array + count); });
}
int tulle_loop_max(double const* array, size_t count, double* max) {
    if (count == 0) return -EINVAL;
    return for_array(array, count, max,
                     [=] { *max = *parallel_max_element(array, array + count); });
}

int tulle_loop_sort_doubles(double* array, size_t count) {
    if (array == nullptr) return count == 0 ? 0 : -EINVAL;
    return for_array(array, count, array, [=] { parallel_sort(array, array + count); });
}
int tulle_loop_sort(void* array, size_t count, size_t size,
                    int (*compare)(void const*, void const*)) {
    if (compare == nullptr || size == 0 || (array == nullptr && count != 0)) return -EINVAL;
    if (count < 2) return 0;
    return capi::without_exceptions([=] {
        auto* const bytes = static_cast<std::byte*>(array);
        std::vector<std::byte const*> order(count);
        for (std::size_t i = 0; i != count; ++i) order[i] = bytes + i * size;
        parallel_stable_sort(
            order.begin(), order.end(),
            [=](std::byte const* a, std::byte const* b) { return compare(a, b) < 0; });
        bring_into_order(bytes, size, order);
        return 0;
    });
}

} // extern "C"

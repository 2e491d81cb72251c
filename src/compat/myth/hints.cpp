// SPDX-License-Identifier: Apache-2.0
// Hints of threads, and random workers: what a program's own stealing goes by.
#include "compat/myth/library.hpp"
#include "compat/myth/random.hpp"
#include "compat/myth/thread.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>

namespace tulle::myth {

namespace {

// splitmix64, over a counter that all threads share.
// Source: Steele, Lea, Flood, doi:10.1145/2714064.2660195.
std::uint64_t next_random() noexcept {
    static std::atomic<std::uint64_t> s_state{0};
    constexpr std::uint64_t k_step = 0x9e3779b97f4a7c15;
    // relaxed: a number of each its own
    std::uint64_t z = s_state.fetch_add(k_step, std::memory_order_relaxed) + k_step;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111eb;
    return z ^ (z >> 31U);
}

} // namespace

int random_below(int limit) noexcept { return limit <= 0 ? 0 : random_in(0, limit); }

int random_in(int min, int max) noexcept {
    std::int64_t const range = std::int64_t{max} - min;
    auto const offset =
        static_cast<std::int64_t>(next_random() % static_cast<std::uint64_t>(range));
    return static_cast<int>(min + offset);
}

namespace {

// Of the caller if `th` is null. Null: it has none.
extra* hint_of(myth_thread_t th) noexcept {
    myth_thread_t const of = th != nullptr ? th : myth_self();
    // acquire pairs with more_of
    return of == nullptr ? nullptr : body_of(of).more.load(std::memory_order_acquire);
}

} // namespace
} // namespace tulle::myth

using namespace tulle::myth;

size_t myth_wsapi_get_hint_size(myth_thread_t th) {
    extra const* const more = hint_of(th);
    return more == nullptr ? 0 : more->hint_size;
}
void* myth_wsapi_get_hint_ptr(myth_thread_t th) {
    extra const* const more = hint_of(th);
    return more == nullptr ? nullptr : more->hint;
}
void myth_wsapi_set_hint(myth_thread_t th, void** data, size_t* size) {
    if (any_null(data, size)) {
        errno = EINVAL;
        return;
    }
    myth_thread_t const of = th != nullptr ? th : myth_self();
    extra* const more = of == nullptr ? nullptr : more_of(body_of(of));
    if (more == nullptr) {
        errno = ENOMEM;
        return;
    }
    std::swap(more->hint, *data);
    std::swap(more->hint_size, *size);
}

int myth_wsapi_rand(void) { return random_below(myth_get_num_workers()); }

void myth_wsapi_randarr(int* ret, int n) {
    if (ret == nullptr) return;
    int const workers = myth_get_num_workers();
    int const count = std::min(n, workers);
    for (int k = 0; k < count; ++k) do {
            ret[k] = random_below(workers);
        } while (std::find(ret, ret + k, ret[k]) != ret + k);
}

int myth_wsapi_rand2(int min, int max) { return max <= min ? min : random_in(min, max); }

// SPDX-License-Identifier: Apache-2.0
// What a globally forked thread is until it runs: two cache lines that say all that a place needs
// that takes it. They lie where the other places of the host reach them, so nothing in them is an
// address that is meant for others, and the code goes by its name (detail/remote.hpp).
#pragma once

#include <tulle/detail/attributes.hpp>
#include <tulle/detail/deque_front.hpp>
#include <tulle/detail/invoke.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>

namespace tulle::detail {

inline constexpr std::size_t k_global_body_size = 96;
inline constexpr std::size_t k_global_alignment = 16;

// Takes the arguments out of the body and leaves the result in it.
using global_code = void (*)(std::byte* body);

struct alignas(64) global_record {
    std::uint64_t code; // its name; k_joined
    // k_running, k_done, or the address of the signal that the parent waits for
    // (sched/records/join_word.hpp)
    std::atomic<std::uintptr_t> state;
    std::exception_ptr exception; // of its own process
    // Of its own process: the thief by message, where deaths are survived
    // (balance/balance_service.cpp)
    std::uint64_t given;
    alignas(k_global_alignment) std::byte body[k_global_body_size]; // arguments, then the result

    static constexpr std::uint64_t k_joined = ~std::uint64_t{0}; // nothing is to be done
};
static_assert(sizeof(global_record) == 128);

using global_deque_front = basic_deque_front<native_machine, global_record>;

// Arguments side by side, which can be copied byte by byte if each of them can.
template <class... A> struct global_arguments;
template <> struct global_arguments<> {
    template <class F, class... Before>
    TULLE_INLINE decltype(auto) call(F& f, Before const&... before) const {
        return detail::invoke(f, Before(before)...);
    }
};
template <class A, class... Rest> struct global_arguments<A, Rest...> {
    A first;
    [[no_unique_address]] global_arguments<Rest...> rest;

    template <class F, class... Before>
    TULLE_INLINE decltype(auto) call(F& f, Before const&... before) const {
        return rest.call(f, before..., first);
    }
};
TULLE_INLINE global_arguments<> gather_global() noexcept { return {}; }
template <class A, class... Rest>
TULLE_INLINE global_arguments<A, Rest...> gather_global(A const& first,
                                                        Rest const&... rest) noexcept {
    return {first, gather_global(rest...)};
}

} // namespace tulle::detail

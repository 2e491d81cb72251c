// SPDX-License-Identifier: Apache-2.0
// Limits as the C functions take them, and what these return when one was reached.
#pragma once

#include "capi/deadline.hpp"
#include "sync/parking.hpp"

#include <tulle/c/cancel.h>
#include <tulle/detail/limit.hpp>

#include <cerrno>
#include <cstring>
#include <type_traits>

namespace tulle::capi {

[[nodiscard]] inline tulle::detail::cancellation* state_of(tulle_cancellation_t* c) noexcept {
    return reinterpret_cast<tulle::detail::cancellation*>(c);
}
[[nodiscard]] inline tulle::detail::limit limit_of(tulle_limit_t const& l) noexcept {
    return {deadline_in(l.timeout_ns), state_of(l.cancellation)};
}
// Why a wait with this limit has ended without what it was for.
[[nodiscard]] inline int reason_of(tulle_limit_t const& l) noexcept {
    return l.cancellation != nullptr && state_of(l.cancellation)->is_cancelled() ? -ECANCELED
                                                                                 : -ETIMEDOUT;
}
// wait(limit): whether it got what it was for.
template <class Wait> [[nodiscard]] int within(tulle_limit_t const& l, Wait wait) noexcept {
    return wait(limit_of(l)) ? 0 : reason_of(l);
}

// The storage of an object of C, and what lives in it: valid when all its bytes are zero.
template <class T, class Storage> [[nodiscard]] T& object_in(Storage* storage) noexcept {
    static_assert(sizeof(T) <= sizeof(Storage) && alignof(T) <= alignof(Storage) &&
                  std::is_trivially_destructible_v<T>);
    return *reinterpret_cast<T*>(storage);
}
template <class Storage> int clear_object(Storage* storage) noexcept {
    if (storage == nullptr) return -EINVAL;
    std::memset(storage, 0, sizeof *storage);
    return 0;
}

} // namespace tulle::capi

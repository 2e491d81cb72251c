// SPDX-License-Identifier: Apache-2.0
// What the C functions return instead of exceptions.
#pragma once

#include <tulle/finish.hpp>
#include <tulle/place.hpp>

#include <cerrno>
#include <exception>
#include <new>
#include <stdexcept>
#include <system_error>

namespace tulle::capi {

[[nodiscard]] int error_number(std::exception_ptr const& e) noexcept; // negative

// What `action` returns, or the negative errno for what it throws.
template <class Action> auto without_exceptions(Action action) noexcept -> decltype(action()) try {
    return action();
} catch (...) {
    return error_number(std::current_exception());
}

} // namespace tulle::capi

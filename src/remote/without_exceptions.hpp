// SPDX-License-Identifier: Apache-2.0
// What the C functions return in place of exceptions.
#pragma once

#include <tulle/place.hpp>

#include <cerrno>
#include <new>
#include <stdexcept>
#include <system_error>

namespace tulle::remote {

// What `action` returns, or the negative errno for what it throws.
template <class Action> auto without_exceptions(Action action) noexcept -> decltype(action()) try {
    return action();
} catch (std::invalid_argument const&) {
    return -EINVAL;
} catch (std::out_of_range const&) {
    return -EFAULT;
} catch (std::logic_error const&) {
    return -EPERM;
} catch (std::system_error const& e) {
    return -e.code().value();
} catch (dead_place const&) {
    return -EHOSTDOWN;
} catch (std::bad_alloc const&) {
    return -ENOMEM;
}

} // namespace tulle::remote

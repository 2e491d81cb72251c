// SPDX-License-Identifier: Apache-2.0
// Exceptions as the C functions return them.
#pragma once

#include <cerrno>
#include <new>
#include <stdexcept>
#include <system_error>

namespace tulle::capi {

// What `action` returns: 0 or more, or a negative errno; what it throws, as one of those.
template <class Action> [[nodiscard]] int guarded(Action action) noexcept {
    try {
        return action();
    } catch (std::bad_alloc const&) {
        return -ENOMEM;
    } catch (std::length_error const&) {
        return -EOVERFLOW;
    } catch (std::system_error const& e) {
        return -e.code().value();
    }
}

} // namespace tulle::capi

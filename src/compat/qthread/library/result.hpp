// SPDX-License-Identifier: Apache-2.0
// The errors of the native library as those of Qthreads.
#pragma once

#include <qthread/qthread.h>

#include <cerrno>
#include <new>
#include <system_error>

namespace tulle::compat {

[[nodiscard]] inline int result_of(int error) noexcept {
    switch (error) {
        case 0: return QTHREAD_SUCCESS;
        case ENOMEM: return QTHREAD_MALLOC_ERROR;
        case EINVAL: return QTHREAD_BADARGS;
        case EAGAIN: return QTHREAD_PTHREAD_ERROR;
        case EPERM: return QTHREAD_NOT_ALLOWED;
        default: return QTHREAD_THIRD_PARTY_ERROR;
    }
}

// Success unless `action` throws.
template <class Action> int guarded(Action action) noexcept {
    try {
        action();
        return QTHREAD_SUCCESS;
    } catch (std::bad_alloc const&) {
        return QTHREAD_MALLOC_ERROR;
    } catch (std::system_error const& e) {
        return result_of(e.code().value());
    } catch (...) {
        return QTHREAD_BADARGS;
    }
}

} // namespace tulle::compat

// SPDX-License-Identifier: Apache-2.0
// The C functions of <tulle/c/cancel.h>.
#include "capi/limit.hpp"

#include <tulle/cancellation.hpp>

#include <new>

using namespace tulle::detail;
using tulle::capi::deadline_in;
using tulle::capi::state_of;

int tulle_cancellation_create(tulle_cancellation_t** out, tulle_cancellation_t* whole) {
    if (out == nullptr) return -EINVAL;
    try {
        *out = reinterpret_cast<tulle_cancellation_t*>(open_cancellation(state_of(whole)));
        return 0;
    } catch (std::bad_alloc const&) {
        return -ENOMEM;
    }
}

int tulle_cancellation_destroy(tulle_cancellation_t* cancellation) {
    if (cancellation == nullptr) return -EINVAL;
    drop_cancellation(state_of(cancellation));
    return 0;
}

int tulle_cancellation_request(tulle_cancellation_t* cancellation) {
    if (cancellation == nullptr) return -EINVAL;
    return request_cancellation(*state_of(cancellation)) ? 0 : -EALREADY;
}

int tulle_cancellation_request_after(tulle_cancellation_t* cancellation, uint64_t time_ns) {
    if (cancellation == nullptr) return -EINVAL;
    request_cancellation_at(*state_of(cancellation), deadline_in(time_ns));
    return 0;
}

int tulle_cancellation_is_requested(tulle_cancellation_t* cancellation) {
    if (cancellation == nullptr) return -EINVAL;
    return is_cancelled(*state_of(cancellation)) ? 1 : 0;
}

int tulle_cancellation_wait(tulle_cancellation_t* cancellation) {
    return tulle_cancellation_timedwait(cancellation, k_no_deadline);
}

int tulle_cancellation_timedwait(tulle_cancellation_t* cancellation, uint64_t timeout_ns) {
    if (cancellation == nullptr) return -EINVAL;
    return wait_for_cancellation({deadline_in(timeout_ns), state_of(cancellation)}) ? 0
                                                                                    : -ETIMEDOUT;
}

int tulle_sleep_within(const tulle_limit_t* limit) {
    if (limit == nullptr) return -EINVAL;
    return wait_for_cancellation(tulle::capi::limit_of(*limit)) ? -ECANCELED : 0;
}

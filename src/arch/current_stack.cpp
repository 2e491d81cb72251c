// SPDX-License-Identifier: Apache-2.0
#include "arch/current_stack.hpp"

#include <pthread.h>

namespace tulle::arch {

stack_bounds os_thread_stack() noexcept {
    stack_bounds bounds{nullptr, 0};
    pthread_attr_t attributes;
    if (::pthread_getattr_np(::pthread_self(), &attributes) == 0) {
        ::pthread_attr_getstack(&attributes, &bounds.low, &bounds.size);
        ::pthread_attr_destroy(&attributes);
    }
    return bounds;
}

} // namespace tulle::arch

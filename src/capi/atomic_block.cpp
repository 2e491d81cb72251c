// SPDX-License-Identifier: Apache-2.0
// The C functions of <tulle/c/atomic_block.h>.
#include "capi/without_exceptions.hpp"

#include <tulle/atomic_block.hpp>
#include <tulle/c/atomic_block.h>

#include <cerrno>

using tulle::capi::without_exceptions;

int tulle_atomically(void (*block)(void*), void* argument) {
    if (block == nullptr) return -EINVAL;
    return without_exceptions([=] {
        tulle::atomically([=] { block(argument); });
        return 0;
    });
}

int tulle_when(int (*condition)(void*), void (*block)(void*), void* argument) {
    if (condition == nullptr || block == nullptr) return -EINVAL;
    return without_exceptions([=] {
        tulle::when([=] { return condition(argument) != 0; }, [=] { block(argument); });
        return 0;
    });
}

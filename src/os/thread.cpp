// SPDX-License-Identifier: Apache-2.0
#include "os/thread.hpp"

#include <cerrno>
#include <cstdio>

#include <sched.h>

namespace tulle::os {

int start_thread(pthread_t& started, char const* name, void* (*run)(void*), void* argument) noexcept {
    int const error = ::pthread_create(&started, nullptr, run, argument);
    if (error == 0) {
        set_name(started, name);
    }
    return error;
}

int pin_to(pthread_t thread, std::vector<int> const& cpus) noexcept {
    int largest = 0;
    for (int const cpu : cpus) {
        largest = cpu > largest ? cpu : largest;
    }
    cpu_set_t* const set = CPU_ALLOC(static_cast<std::size_t>(largest) + 1);
    if (set == nullptr) {
        return ENOMEM;
    }
    std::size_t const bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(largest) + 1);
    CPU_ZERO_S(bytes, set);
    for (int const cpu : cpus) {
        CPU_SET_S(static_cast<std::size_t>(cpu), bytes, set);
    }
    int const error = ::pthread_setaffinity_np(thread, bytes, set);
    CPU_FREE(set);
    return error;
}

int set_name(pthread_t thread, char const* name) noexcept {
    char cut[16]; // the kernel's limit, end included
    std::snprintf(cut, sizeof cut, "%s", name);
    return ::pthread_setname_np(thread, cut);
}

} // namespace tulle::os

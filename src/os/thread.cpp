// SPDX-License-Identifier: Apache-2.0
#include "os/thread.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include <dirent.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tulle::os {

namespace {

// ThreadSanitizer has an OS thread of its own, which wakes nobody.
#if defined(__SANITIZE_THREAD__)
constexpr int k_sanitizer_threads = 1;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
constexpr int k_sanitizer_threads = 1;
#else
constexpr int k_sanitizer_threads = 0;
#endif
#else
constexpr int k_sanitizer_threads = 0;
#endif

} // namespace

int start_thread(pthread_t& started, char const* name, void* (*run)(void*), void* argument) noexcept {
    int const error = ::pthread_create(&started, nullptr, run, argument);
    if (error == 0) {
        set_name(started, name);
    }
    return error;
}

int pin_to(pthread_t thread, std::span<int const> cpus) noexcept {
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

int thread_id() noexcept { return static_cast<int>(::syscall(SYS_gettid)); }

int count_other_threads(bool (*is_known)(void* argument, int tid), void* argument) noexcept {
    DIR* const tasks = ::opendir("/proc/self/task");
    if (tasks == nullptr) {
        return -1;
    }
    int others = 0;
    while (dirent const* const entry = ::readdir(tasks)) {
        int const tid = std::atoi(entry->d_name); // 0 for . and ..
        others += tid != 0 && !is_known(argument, tid) ? 1 : 0;
    }
    ::closedir(tasks);
    return std::max(others - k_sanitizer_threads, 0);
}

int set_name(pthread_t thread, char const* name) noexcept {
    char cut[16]; // the kernel's limit, end included
    std::snprintf(cut, sizeof cut, "%s", name);
    return ::pthread_setname_np(thread, cut);
}

int other_threads() noexcept {
    int self = thread_id();
    int const others = count_other_threads([](void* caller, int tid) { return tid == *static_cast<int*>(caller); }, &self);
    return others < 0 ? 1 : others;
}

} // namespace tulle::os

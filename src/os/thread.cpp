// SPDX-License-Identifier: Apache-2.0
#include "os/thread.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include <dirent.h>
#include <fcntl.h>
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

// Calls f(tid) for each entry of the folder but . and .. (getdents64(2)); without memory, of which
// there may be none when somebody asks. An errno.
template <class F> int for_each_task(int folder, F f) noexcept {
    struct entry {
        std::uint64_t inode;
        std::int64_t next;
        unsigned short length;
        unsigned char type;
        char name[1]; // as long as it is
    };
    alignas(entry) char read[1024];
    for (;;) {
        long const count = ::syscall(SYS_getdents64, folder, read, sizeof read);
        if (count <= 0) return count == 0 ? 0 : errno;
        for (long at = 0; at < count;) {
            char const* const here = read + at;
            unsigned short length = 0;
            std::memcpy(&length, here + offsetof(entry, length), sizeof length);
            int const tid = std::atoi(here + offsetof(entry, name));
            if (tid != 0) f(tid);
            at += length;
        }
    }
}

// What `use(bytes, set)` returns, or ENOMEM.
template <class Use> int with_set(std::span<int const> cpus, Use use) noexcept {
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
    int const error = use(bytes, set);
    CPU_FREE(set);
    return error;
}

bool move_thread(int tid, std::span<int const> from, std::span<int const> to) {
    std::vector<int> const now = affinity_of(tid);
    if (!std::equal(now.begin(), now.end(), from.begin(), from.end())) {
        return false;
    }
    return with_set(to, [tid](std::size_t bytes, cpu_set_t* set) {
               return ::sched_setaffinity(tid, bytes, set);
           }) == 0;
}

// Whether one has moved.
bool move_threads_once(std::span<int const> from, std::span<int const> to) {
    std::unique_ptr<DIR, int (*)(DIR*)> const tasks(::opendir("/proc/self/task"), &::closedir);
    bool has_moved = false;
    while (dirent const* const entry = tasks ? ::readdir(tasks.get()) : nullptr) {
        int const tid = std::atoi(entry->d_name); // 0 for . and ..
        has_moved = (tid != 0 && move_thread(tid, from, to)) || has_moved;
    }
    return has_moved;
}

// As the kernel defines it; the C library of many systems does not.
struct scheduling_attributes {
    std::uint32_t size = sizeof(scheduling_attributes);
    std::uint32_t policy = 0;
    std::uint64_t flags = 0;
    std::int32_t nice = 0;
    std::uint32_t priority = 0;
    std::uint64_t runtime = 0; // ns; by the default policy: of a slice
    std::uint64_t deadline = 0;
    std::uint64_t period = 0;
};

} // namespace

int start_thread(pthread_t& started, void* (*run)(void*), void* argument) noexcept {
    return ::pthread_create(&started, nullptr, run, argument);
}

int pin_to(pthread_t thread, std::span<int const> cpus) noexcept {
    return with_set(cpus, [thread](std::size_t bytes, cpu_set_t* set) {
        return ::pthread_setaffinity_np(thread, bytes, set);
    });
}

std::vector<int> affinity_of(int tid) {
    constexpr int k_most_cpus = 8192;
    std::vector<int> cpus;
    cpu_set_t set[k_most_cpus / CPU_SETSIZE];
    if (::sched_getaffinity(tid, sizeof set, set) != 0) {
        return cpus;
    }
    for (int cpu = 0; cpu < k_most_cpus; ++cpu) {
        if (CPU_ISSET_S(static_cast<std::size_t>(cpu), sizeof set, set)) {
            cpus.push_back(cpu);
        }
    }
    return cpus;
}

void move_threads(std::span<int const> from, std::span<int const> to) {
    // A new thread has what its maker had, which may be seen after the maker has moved.
    constexpr int k_most_rounds = 8;
    for (int round = 0; round < k_most_rounds && move_threads_once(from, to); ++round) {}
}

int thread_id() noexcept { return static_cast<int>(::syscall(SYS_gettid)); }

int count_other_threads(bool (*is_known)(void* argument, int tid), void* argument) noexcept {
    int const tasks = ::open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (tasks < 0) {
        return -1;
    }
    int others = 0;
    int const error =
        for_each_task(tasks, [&](int tid) { others += is_known(argument, tid) ? 0 : 1; });
    ::close(tasks);
    return error != 0 ? -1 : std::max(others - k_sanitizer_threads, 0);
}

int set_name(char const* name) noexcept {
    char cut[16]; // the kernel's limit, end included
    std::snprintf(cut, sizeof cut, "%s", name);
    return ::pthread_setname_np(::pthread_self(), cut);
}

int other_threads() noexcept {
    int self = thread_id();
    int const others = count_other_threads(
        [](void* caller, int tid) { return tid == *static_cast<int*>(caller); }, &self);
    return others < 0 ? 1 : others;
}

void shorten_slice(std::uint64_t ns) noexcept {
#if defined(SYS_sched_getattr) && defined(SYS_sched_setattr)
    scheduling_attributes now;
    if (::syscall(SYS_sched_getattr, 0, &now, sizeof now, 0) != 0 || now.policy != SCHED_OTHER)
        return;
    now.size = sizeof now;
    now.runtime = ns;
    static_cast<void>(::syscall(SYS_sched_setattr, 0, &now, 0));
#else
    static_cast<void>(ns);
#endif
}

} // namespace tulle::os

// SPDX-License-Identifier: Apache-2.0
// A program that shares the CPUs of its machine: it is in the registry, and an OS thread of its own
// sees to it that it follows when others come, go, die or want something else. That thread sleeps
// until the file changes (inotify(7)), and visits it once a second all the same: for those that
// have died, and where the system has no watch to give.
#pragma once

#include "cpus/registry.hpp"
#include "os/private_descriptor.hpp"

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <pthread.h>

namespace tulle::cpus {

// What the program does. The member's thread calls these, or a thread that joins or wants, one at a
// time, none of them after leave().
struct follower {
    void (*starts)(int tid) noexcept = nullptr; // the thread that watches
    // The program has other CPUs. False: it cannot follow yet, and will be told again.
    bool (*moves)(std::vector<int> const& before, std::vector<int> const& after) noexcept = nullptr;
    // The registry is of no use any more; the program has all that it may use again.
    void (*gives_up)(std::string const& why) noexcept = nullptr;
};

class member {
public:
    // 0, or an error of registry::visit (why() says why), or of the start of an OS thread.
    [[nodiscard]] int join(std::string path, std::vector<int> may, wish const& wanted,
                           follower const& program);
    // Its OS threads may run where they might before; nothing is done if it has not joined.
    void leave() noexcept;

    // 0, and has() is as the others let it; if the registry is locked for long, soon. ENOTSUP: it
    // has not joined, or has given up; others: see registry::visit. Throws std::bad_alloc.
    [[nodiscard]] int want(wish const& wanted);
    [[nodiscard]] int want(wish const& wanted, std::vector<int> may); // and it may use others
    // Nothing: it has not joined, or has given up.
    [[nodiscard]] std::optional<wish> wanted();
    [[nodiscard]] std::vector<int> has();
    [[nodiscard]] std::vector<int> may();
    // If somebody has restricted the process's first thread meanwhile, as it is now.
    [[nodiscard]] std::vector<int> may_now();
    [[nodiscard]] std::string const& why() const noexcept { return m_why; } // of join

    // These are called around fork(2); the child is no member, and has all that it may use again.
    void before_process_fork() noexcept { m_lock.lock(); }
    void after_process_fork(bool in_child) noexcept;

private:
    static void* run(void* self) noexcept;
    void watch() noexcept;
    [[nodiscard]] bool watch_and_visit() noexcept;
    [[nodiscard]] int visit() noexcept;
    [[nodiscard]] int start_thread() noexcept;
    void give_up();
    void forget() noexcept;
    void spread() noexcept;
    [[nodiscard]] bool sleep() const noexcept;

    std::mutex m_lock;
    // Guarded by m_lock; the descriptors change only while there is no thread.
    std::optional<registry> m_registry; // nothing: no member
    follower m_program;
    wish m_wanted;
    std::vector<int> m_may;
    std::vector<int> m_has;
    std::string m_why;
    pthread_t m_thread{};
    bool m_has_thread = false;
    os::private_descriptor m_changes; // inotify
    os::private_descriptor m_end;     // eventfd
};

} // namespace tulle::cpus

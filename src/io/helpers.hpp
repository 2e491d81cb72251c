// SPDX-License-Identifier: Apache-2.0
// OS threads that make calls which block, and of which the system does not tell when they would
// not: on files that lie on a disk, or of the resolver. The threads that want such calls queue, and
// each helper makes one call after the other. A helper is started when there are more calls than
// helpers without one, up to k_most; it stays until the run time stops.
#pragma once

#include "sched/parking.hpp"
#include "wait/wait_list.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <pthread.h>

namespace tulle::io {

class helpers {
public:
    static constexpr std::size_t k_most = 16;

    helpers() noexcept = default;
    helpers(helpers const&) = delete;
    helpers& operator=(helpers const&) = delete;

    // Suspends the caller, a thread of the run time, until a helper has made the call. 0; else
    // ETIMEDOUT or ECANCELED, and no helper has begun with it. Where there is no helper and none
    // can be started, the caller makes the call itself.
    [[nodiscard]] int run(void (*call)(void*) noexcept, void* argument,
                          wait::limit<sched::parking> until) noexcept;
    // Nobody waits: joins the OS threads.
    void stop() noexcept;
    // In a forked child, which has none of them.
    void forget() noexcept;
    // Whether the OS thread of this number is one of them. relaxed: it does not change.
    [[nodiscard]] bool owns_os_thread(int tid) const noexcept;

private:
    using parking = sched::parking;

    struct job : wait::waiter<parking> {
        void (*call)(void*) noexcept = nullptr;
        void* argument = nullptr;
    };
    struct helper {
        helpers* owner = nullptr;
        pthread_t os_thread{};
        std::atomic<int> tid{0};
    };

    [[nodiscard]] bool have_one() noexcept;
    [[nodiscard]] bool is_short() noexcept;
    [[nodiscard]] bool has_some() noexcept;
    [[nodiscard]] bool start_one() noexcept;
    void enter(job& j) noexcept;
    [[nodiscard]] job* take() noexcept;
    static void* main_of(void* h);
    void serve() noexcept;
    void rest() noexcept;

    parking::lock m_starting; // of those that start and stop helpers; before m_lock
    parking::lock m_lock;     // guards what follows
    wait::wait_list<parking> m_jobs;
    std::size_t m_queued = 0;
    std::size_t m_idle = 0;
    std::size_t m_count = 0;
    bool m_stops = false;

    std::atomic<std::uint32_t> m_calls{0}; // futex: changes when a helper that rests is wanted
    std::array<helper, k_most> m_helpers{};
};

} // namespace tulle::io

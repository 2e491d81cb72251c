// SPDX-License-Identifier: Apache-2.0
#include "compat/pthread/locks/shared_wait.hpp"

#include "compat/pthread/locks/os_thread_wait.hpp"
#include "compat/pthread/threads/os_attention.hpp"
#include "os/clock.hpp"
#include "wait/limit_wait.hpp"

namespace tulle::posix {

int wait_in_libc::operator()(pthread_cond_t* c, pthread_mutex_t* m) const {
    if (until == nullptr) return TULLE_LIBC(pthread_cond_wait)(c, m);
    if (clock == nullptr) return TULLE_LIBC(pthread_cond_timedwait)(c, m, until);
    return TULLE_LIBC(pthread_cond_clockwait)(c, m, *clock, until);
}

namespace {

class shared_wait {
public:
    static constexpr int k_early = ECANCELED; // the result of a wait that has been cancelled

    shared_wait(pthread_cond_t* c, wait_in_libc const& how) noexcept : m_condition(c), m_how(how) {}
    shared_wait(shared_wait const&) = delete;
    shared_wait& operator=(shared_wait const&) = delete;

    [[nodiscard]] int start() noexcept { return m_by.start(&main_of, this); }
    // Once it waits for the condition.
    [[nodiscard]] int let_go_of(pthread_mutex_t* m) noexcept {
        m_by.await_wait();
        TULLE_LIBC(pthread_mutex_lock)(&m_turn);
        int const error = unlock_mutex(m);
        TULLE_LIBC(pthread_mutex_unlock)(&m_turn);
        return error;
    }
    void cancel() noexcept { m_by.cancel(); }
    [[nodiscard]] bool await(limit until) noexcept { return m_by.await_end(until); }
    [[nodiscard]] int join() noexcept {
        m_by.join();
        return m_result;
    }

private:
    // When the wait returns, or is cancelled.
    struct at_end {
        shared_wait& it;
        ~at_end() {
            TULLE_LIBC(pthread_mutex_unlock)(&it.m_turn);
            it.m_by.become(os_thread_wait::k_over);
        }
    };

    static void* main_of(void* of) {
        os::set_name("tulle-cond");
        static_cast<shared_wait*>(of)->wait();
        return nullptr;
    }
    void wait() {
        TULLE_LIBC(pthread_mutex_lock)(&m_turn);
        at_end const ends{*this};
        m_by.become(os_thread_wait::k_waits);
        m_result = m_how(m_condition, &m_turn);
    }

    pthread_cond_t* m_condition;
    wait_in_libc m_how;
    pthread_mutex_t m_turn = PTHREAD_MUTEX_INITIALIZER; // the C library's
    os_thread_wait m_by;
    int m_result = k_early;
};

} // namespace

namespace {

bool is_over(pthread_cond_t const* c, wait_in_libc const& how) noexcept {
    if (how.until == nullptr) return false;
    constexpr unsigned k_monotonic = 2; // of the C library's __wrefs
    bool const is_monotonic = (c->__data.__wrefs & k_monotonic) != 0;
    timespec now{};
    clock_gettime(how.clock != nullptr ? *how.clock
                  : is_monotonic       ? CLOCK_MONOTONIC
                                       : CLOCK_REALTIME,
                  &now);
    return now.tv_sec != how.until->tv_sec ? now.tv_sec > how.until->tv_sec
                                           : now.tv_nsec >= how.until->tv_nsec;
}

// There is no OS thread to be had: the program looks again after a while, as it does after any
// wake-up for no reason.
end_of_shared_wait wait_for_a_while(thread* caller, pthread_cond_t* c, pthread_mutex_t* m,
                                    wait_in_libc const& how) {
    constexpr std::uint64_t k_pause_ns = 1'000'000;
    if (how.until != nullptr && !is_time(*how.until)) return {EINVAL, false};
    if (how.clock != nullptr && !is_clock(*how.clock)) return {EINVAL, false};
    if (int const refused = unlock_mutex(m)) return {refused, false};
    if (caller == nullptr) {
        uncancelled const meanwhile;
        timespec const pause{0, k_pause_ns};
        TULLE_LIBC(nanosleep)(&pause, nullptr);
    } else {
        static_cast<void>(
            wait::wait_for_limit<parking>({wait::wait_kind::sleep, nullptr},
                                          interruptible(caller, os::monotonic_ns() + k_pause_ns)));
        if (caller->attention.is_requested()) static_cast<void>(run_handlers(*caller));
    }
    int const error = lock_mutex(m);
    return {error != 0 ? error : is_over(c, how) ? ETIMEDOUT : 0, true};
}

} // namespace

end_of_shared_wait wait_by_os_thread(pthread_cond_t* c, pthread_mutex_t* m,
                                     wait_in_libc const& how) {
    thread* const caller = self();
    os_attention const attention(caller, ended_by::no_handler);
    test_cancel(caller);
    shared_wait it(c, how);
    if (it.start() != 0) return wait_for_a_while(caller, c, m, how);
    int const refused = it.let_go_of(m);
    if (refused != 0 || !it.await(attention.until(wait::k_never))) it.cancel();
    int const result = it.join();
    if (refused != 0) return {refused, false};
    if (caller != nullptr && caller->attention.is_requested())
        static_cast<void>(run_handlers(*caller));
    bool const is_early = result == shared_wait::k_early;
    int const error = lock_mutex(m);
    return {error != 0 || is_early ? error : result, is_early};
}

} // namespace tulle::posix

// SPDX-License-Identifier: Apache-2.0
#include "compat/pthread/locks/shared_semaphore.hpp"

#include "compat/pthread/locks/os_thread_wait.hpp"

namespace tulle::posix {

int semaphore_wait::operator()(sem_t* s) const {
    return until == nullptr ? TULLE_LIBC(sem_wait)(s) : TULLE_LIBC(sem_clockwait)(s, clock, until);
}

namespace {

class wait_by_os_thread {
public:
    wait_by_os_thread(sem_t* s, semaphore_wait const& how) noexcept : m_semaphore(s), m_how(how) {}
    wait_by_os_thread(wait_by_os_thread const&) = delete;
    wait_by_os_thread& operator=(wait_by_os_thread const&) = delete;

    // An errno value; 0: it is down; ECANCELED: a handler or a cancellation of `t` comes first.
    [[nodiscard]] int run(thread& t) noexcept {
        if (m_by.start(&main_of, this) != 0) return m_how(m_semaphore) == 0 ? 0 : errno;
        if (!m_by.await_end(interruptible(&t, wait::k_never))) m_by.cancel();
        m_by.join();
        // It may have been woken in vain, and nobody else then.
        bool const is_down = m_error == ECANCELED && TULLE_LIBC(sem_trywait)(m_semaphore) == 0;
        return is_down ? 0 : m_error;
    }

private:
    // When the wait returns, or is cancelled.
    struct at_end {
        os_thread_wait& by;
        ~at_end() { by.become(os_thread_wait::k_over); }
    };

    static void* main_of(void* of) {
        auto& it = *static_cast<wait_by_os_thread*>(of);
        at_end const ends{it.m_by};
        os::set_name("tulle-sem");
        it.m_error = it.m_how(it.m_semaphore) == 0 ? 0 : errno;
        return nullptr;
    }

    sem_t* m_semaphore;
    semaphore_wait m_how;
    os_thread_wait m_by;
    int m_error = ECANCELED;
};

// Others of this process may raise it soon.
bool comes_down_soon(sem_t* s) noexcept {
    constexpr int k_tries = 16;
    for (int k = 0; k != k_tries; ++k) {
        if (TULLE_LIBC(sem_trywait)(s) == 0) return true;
        yield_to_others();
    }
    return false;
}

} // namespace

int down_by_os_thread(thread& t, sem_t* s, semaphore_wait const& how) {
    int const before = errno;
    if (how.until != nullptr && (!is_clock(how.clock) || !is_time(*how.until))) return fail(EINVAL);
    test_cancel(&t);
    int error = 0;
    if (!comes_down_soon(s)) {
        do {
            error = wait_by_os_thread(s, how).run(t);
        } while (error == ECANCELED && !ends_at(attend(t), how.until != nullptr));
    }
    errno = before;
    if (error == 0) return 0;
    return fail(error == ECANCELED ? EINTR : error);
}

} // namespace tulle::posix

// SPDX-License-Identifier: Apache-2.0
#include "compat/pthread/shared_wait.hpp"

#include "compat/pthread/futex_table.hpp"
#include "compat/pthread/libc.hpp"
#include "os/thread.hpp"

namespace tulle::posix {

int wait_in_libc::operator()(pthread_cond_t* c, pthread_mutex_t* m) const {
    if (until == nullptr) return TULLE_LIBC(pthread_cond_wait)(c, m);
    if (clock == nullptr) return TULLE_LIBC(pthread_cond_timedwait)(c, m, until);
    return TULLE_LIBC(pthread_cond_clockwait)(c, m, *clock, until);
}

namespace {

constexpr std::uint32_t k_begins = 0, k_holds = 1, k_over = 2;

// It lies in the caller's frame until the OS thread has been joined.
class shared_wait {
public:
    shared_wait(pthread_cond_t* c, wait_in_libc const& how) noexcept : m_condition(c), m_how(how) {}
    shared_wait(shared_wait const&) = delete;
    shared_wait& operator=(shared_wait const&) = delete;

    [[nodiscard]] int start() noexcept {
        return os::with_signals_blocked(
            [this] { return os::start_thread(m_os_thread, &main_of, this); });
    }
    // Once it waits for the condition.
    [[nodiscard]] int let_go_of(pthread_mutex_t* m) noexcept {
        while (load() == k_begins) static_cast<void>(await_change(k_begins, limit(wait::k_never)));
        TULLE_LIBC(pthread_mutex_lock)(&m_turn);
        int const error = unlock_mutex(m);
        TULLE_LIBC(pthread_mutex_unlock)(&m_turn);
        return error;
    }
    void cancel() noexcept { TULLE_LIBC(pthread_cancel)(m_os_thread); }
    // Whether it is over; a handler, or a cancellation of `caller`, comes first otherwise.
    [[nodiscard]] bool await(thread* caller) noexcept {
        while (load() != k_over) {
            if (await_change(k_holds, interruptible(caller, wait::k_never)) == ECANCELED)
                return false;
        }
        return true;
    }
    [[nodiscard]] int join() noexcept {
        static_cast<void>(await(nullptr));
        TULLE_LIBC(pthread_join)(m_os_thread, nullptr);
        return m_result;
    }

private:
    // When the wait returns, or is cancelled.
    struct at_end {
        shared_wait& it;
        ~at_end() {
            TULLE_LIBC(pthread_mutex_unlock)(&it.m_turn);
            it.become(k_over);
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
        become(k_holds);
        m_result = m_how(m_condition, &m_turn);
    }
    // pairs with become
    [[nodiscard]] std::uint32_t load() const noexcept {
        return m_state.load(std::memory_order_acquire);
    }
    void become(std::uint32_t state) noexcept {
        m_state.store(state, std::memory_order_release); // pairs with load
        futex_wake(m_state, 1);
    }
    int await_change(std::uint32_t seen, limit until) noexcept {
        kept_errno const kept;
        return futex_wait(m_state, seen, until);
    }

    pthread_cond_t* m_condition;
    wait_in_libc m_how;
    pthread_mutex_t m_turn = PTHREAD_MUTEX_INITIALIZER; // the C library's
    futex_word m_state{k_begins};
    pthread_t m_os_thread{};
    int m_result = 0; // of a wait that has been cancelled: as if woken for no reason
};

} // namespace

int wait_by_os_thread(pthread_cond_t* c, pthread_mutex_t* m, wait_in_libc const& how) {
    thread* const caller = self();
    test_cancel(caller);
    shared_wait it(c, how);
    if (it.start() != 0) return ENOMEM;
    int const refused = it.let_go_of(m);
    if (refused != 0 || !it.await(caller)) it.cancel();
    int const result = it.join();
    if (refused != 0) return refused;
    if (caller != nullptr && caller->attention.is_requested())
        static_cast<void>(run_handlers(*caller));
    int const error = lock_mutex(m);
    return error != 0 ? error : result;
}

} // namespace tulle::posix

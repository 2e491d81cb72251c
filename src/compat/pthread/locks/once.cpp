// SPDX-License-Identifier: Apache-2.0
// pthread_once, barriers and spin locks, as the C library lays them out.
#include "base/cpu_pause.hpp"
#include "compat/pthread/c_library/libc.hpp"
#include "compat/pthread/locks/futex_table.hpp"
#include "compat/pthread/locks/lock_wait.hpp"
#include "compat/pthread/locks/os_thread_wait.hpp"

namespace {

using namespace tulle::posix;

// --- once: 0, being done, done -------------------------------------------------------------------

constexpr std::uint32_t k_in_progress = 1, k_done = 2;

// An exception, a cancellation or pthread_exit leaves it to the next caller.
class call_in_progress {
public:
    explicit call_in_progress(futex_word& once) noexcept : m_once(once) {}
    call_in_progress(call_in_progress const&) = delete;
    call_in_progress& operator=(call_in_progress const&) = delete;
    ~call_in_progress() {
        m_once.store(m_is_done ? k_done : 0, std::memory_order_release); // pairs with call_once
        futex_wake(m_once, INT_MAX);
    }
    void finish() noexcept { m_is_done = true; }

private:
    futex_word& m_once;
    bool m_is_done = false;
};

// As the C library does, the upper bits note in which process it was begun: a forked child, in
// which nobody goes on with it, begins anew.
constexpr std::uint32_t k_one_process = 4;
constinit std::uint32_t s_process = 0; // changed in a child that has one thread

void call_once(futex_word& once, void (*function)()) {
    std::uint32_t const ours = s_process | k_in_progress;
    for (;;) {
        std::uint32_t seen = once.load(std::memory_order_acquire); // pairs with call_in_progress
        if ((seen & k_done) != 0) return;
        if (seen == ours) {
            wait_for_lock(once, seen, tulle::wait::k_never);
        } else if (once.compare_exchange_strong(seen, ours, std::memory_order_acquire,
                                                std::memory_order_relaxed)) { // relaxed: read again
            call_in_progress call(once);
            function();
            call.finish();
            return;
        }
    }
}

// --- barriers ------------------------------------------------------------------------------------

// The C library's struct pthread_barrier, which pthread_barrier_init fills in. Ours are the
// meanings of its first two words, which change together, and of the last.
struct barrier {
    std::atomic<std::uint64_t> state; // low half: threads that have come to the round; high: round
    unsigned count;
    int shared;        // by processes
    futex_word inside; // threads that have not left the object yet
};
static_assert(sizeof(barrier) <= sizeof(pthread_barrier_t));

barrier& of(pthread_barrier_t* b) noexcept { return *reinterpret_cast<barrier*>(b); }
// Little-endian: the round is the second word.
futex_word& round_of(barrier& b) noexcept { return *(reinterpret_cast<futex_word*>(&b.state) + 1); }

std::uint32_t round_in(std::uint64_t state) noexcept {
    return static_cast<std::uint32_t>(state >> 32U);
}

// Whether the caller is the last of its round, whose number it gets.
bool come_to(barrier& b, std::uint32_t& round) noexcept {
    std::uint64_t now = b.state.load(std::memory_order_relaxed); // relaxed: exchanged below
    for (;;) {
        round = round_in(now);
        bool const is_last = static_cast<std::uint32_t>(now) + 1 == b.count;
        std::uint64_t const next = is_last ? std::uint64_t{round + 1} << 32U : now + 1;
        // acq_rel: the last one has seen what all have done; relaxed: tried again
        if (b.state.compare_exchange_weak(now, next, std::memory_order_acq_rel,
                                          std::memory_order_relaxed))
            return is_last;
    }
}

// The caller may not destroy the barrier while it is inside.
class inside {
public:
    explicit inside(barrier& b) noexcept : m_barrier(b) {
        b.inside.fetch_add(1, std::memory_order_relaxed); // relaxed: as said
    }
    inside(inside const&) = delete;
    inside& operator=(inside const&) = delete;
    ~inside() { m_barrier.inside.fetch_sub(1, std::memory_order_release); } // the last access

private:
    barrier& m_barrier;
};

int wait_at(barrier& b) {
    inside const here(b);
    std::uint32_t round = 0;
    bool const is_last = come_to(b, round);
    if (is_last) futex_wake(round_of(b), INT_MAX);
    while (!is_last && round_in(b.state.load(std::memory_order_acquire)) == round) // come_to
        wait_for_lock(round_of(b), round, tulle::wait::k_never);
    return is_last ? PTHREAD_BARRIER_SERIAL_THREAD : 0;
}

// A barrier that processes share is the C library's. For a thread of ours an OS thread comes to it,
// as any number of threads may have to before it lets them through.
class wait_at_shared {
public:
    explicit wait_at_shared(pthread_barrier_t* b) noexcept : m_barrier(b) {}
    wait_at_shared(wait_at_shared const&) = delete;
    wait_at_shared& operator=(wait_at_shared const&) = delete;
    // Nothing ends a wait at a barrier: a handler that ends the thread is followed by it.
    ~wait_at_shared() {
        if (m_is_running) m_by.join();
    }

    int run(thread& t) {
        if (m_by.start(&main_of, this) != 0) return TULLE_LIBC(pthread_barrier_wait)(m_barrier);
        m_is_running = true;
        while (!m_by.await_end(interruptible(&t, tulle::wait::k_never)))
            static_cast<void>(run_handlers(t));
        m_by.join();
        m_is_running = false;
        return m_result;
    }

private:
    static void* main_of(void* of) {
        auto& it = *static_cast<wait_at_shared*>(of);
        tulle::os::set_name("tulle-barrier");
        it.m_result = TULLE_LIBC(pthread_barrier_wait)(it.m_barrier);
        it.m_by.become(os_thread_wait::k_over);
        return nullptr;
    }

    pthread_barrier_t* m_barrier;
    os_thread_wait m_by;
    bool m_is_running = false;
    int m_result = 0;
};

int wait_at_shared_barrier(pthread_barrier_t* b) {
    thread* const t = self();
    if (t == nullptr) return TULLE_LIBC(pthread_barrier_wait)(b);
    return wait_at_shared(b).run(*t);
}

} // namespace

void tulle::posix::forget_calls_once() noexcept { s_process += k_one_process; }

TULLE_INTERPOSE int pthread_once(pthread_once_t* once, void (*function)()) {
    call_once(word_of(*once), function);
    return 0;
}

TULLE_INTERPOSE_WAIT(pthread_barrier_wait, (pthread_barrier_t * b)) {
    return of(b).shared != 0 ? wait_at_shared_barrier(b) : wait_at(of(b));
}

// It may be called when the caller's round is over, though others have not left yet.
TULLE_INTERPOSE int pthread_barrier_destroy(pthread_barrier_t* b) noexcept {
    if (of(b).shared != 0) return TULLE_LIBC(pthread_barrier_destroy)(b);
    while (of(b).inside.load(std::memory_order_acquire) != 0)
        yield_to_others(); // pairs with wait_at
    return 0;
}

// The holder may be a thread that this worker is to run.
TULLE_INTERPOSE_WAIT(pthread_spin_lock, (pthread_spinlock_t * l)) {
    constexpr int k_spins = 64;
    for (int tries = 0; pthread_spin_trylock(l) != 0; ++tries) {
        if (tries % k_spins != k_spins - 1) {
            tulle::base::cpu_pause();
        } else {
            look_for_signals();
            yield_to_others();
        }
    }
    return 0;
}

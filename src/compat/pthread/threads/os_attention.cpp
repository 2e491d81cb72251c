// SPDX-License-Identifier: Apache-2.0
#include "compat/pthread/threads/os_attention.hpp"

#include "compat/pthread/c_library/libc.hpp"
#include "compat/pthread/signals/signals.hpp"
#include "compat/pthread/threads/uncancelled.hpp"
#include "os/futex.hpp"

#include <array>
#include <climits>
#include <new>

#include <sys/mman.h>

namespace tulle::posix {

struct os_attention::place {
    std::atomic<bool> is_used{false};
    std::atomic<bool> was_interrupted{false};
    std::atomic<pthread_t> whose{0}; // 0: nobody's
    std::atomic<std::atomic<std::uint32_t>*> in_kernel_at{nullptr};
    detail::cancellation token{nullptr};
};

namespace {

using place = os_attention::place;

struct places {
    places* next = nullptr;
    std::array<place, 32> all{};
};

constinit std::atomic<places*> s_places{nullptr};

// acquire pairs with add_places.
template <class Use> place* find_place(Use use) noexcept {
    for (places* some = s_places.load(std::memory_order_acquire); some != nullptr;
         some = some->next)
        for (place& p : some->all)
            if (use(p)) return &p;
    return nullptr;
}

bool take_place(place& p) noexcept {
    // acquire pairs with the release of the destructor.
    return !p.is_used.load(std::memory_order_relaxed) && // relaxed: exchanged
           !p.is_used.exchange(true, std::memory_order_acquire);
}

// Memory of the system: the program's allocator may be who waits.
bool add_places() noexcept {
    void* const memory =
        ::mmap(nullptr, sizeof(places), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return false;
    auto* const added = ::new (memory) places;
    added->next = s_places.load(std::memory_order_relaxed); // relaxed: exchanged below
    // release pairs with find_place; relaxed: tried again
    while (!s_places.compare_exchange_weak(added->next, added, std::memory_order_release,
                                           std::memory_order_relaxed)) {}
    return true;
}

place* take_some_place() noexcept {
    place* found = find_place(&take_place);
    while (found == nullptr && add_places()) found = find_place(&take_place);
    return found;
}

// The OS thread may be about to wait, or run a handler within its wait.
void wake_in_kernel(place& p) noexcept {
    constexpr int k_most_looks = 10'000;
    constexpr timespec k_pause{0, 100'000};
    // Either this sees where it waits, or it sees the request (in_kernel).
    std::atomic_thread_fence(std::memory_order_seq_cst);
    for (int k = 0; k != k_most_looks && p.token.is_requested(); ++k) {
        auto* const word = p.in_kernel_at.load(std::memory_order_relaxed); // relaxed: the fence
        if (word == nullptr) return;
        os::futex_wake(*word, INT_MAX); // its address alone: it may be gone
        TULLE_LIBC(nanosleep)(&k_pause, nullptr);
    }
}

} // namespace

os_attention::os_attention(thread* caller, ended_by handlers) noexcept
    : m_caller(caller), m_outer(s_of_caller), m_handlers(handlers) {
    if (caller != nullptr) return;
    kept_errno const kept;
    m_place = take_some_place();
    if (m_place == nullptr) return;
    m_place->token.renew();
    m_place->was_interrupted.store(false, std::memory_order_relaxed); // relaxed: the caller's own
    m_place->whose.store(pthread_self(), std::memory_order_relaxed);  // relaxed: the fence
    std::atomic_signal_fence(std::memory_order_seq_cst);              // handlers of this OS thread
    s_of_caller = this;
    std::atomic_thread_fence(std::memory_order_seq_cst); // pairs with cancel
}

os_attention::~os_attention() {
    if (m_place == nullptr) return;
    s_of_caller = m_outer;
    std::atomic_signal_fence(std::memory_order_seq_cst); // likewise
    m_place->whose.store(0, std::memory_order_relaxed);  // relaxed: one request more is no harm
    m_place->is_used.store(false, std::memory_order_release); // pairs with take_place
}

limit os_attention::until(std::uint64_t deadline) const noexcept {
    if (m_caller != nullptr || m_place == nullptr) return interruptible(m_caller, deadline);
    return limit(deadline, &m_place->token);
}

bool os_attention::renew() noexcept {
    m_place->token.renew();
    // acquire pairs with note_handler; what comes later requests it again.
    return m_place->was_interrupted.exchange(false, std::memory_order_acquire);
}

// Either the wait is seen here, or it sees that it has been cancelled (test_cancel).
void os_attention::cancel(pthread_t id) noexcept {
    uncancelled const meanwhile;
    std::atomic_thread_fence(std::memory_order_seq_cst); // pairs with the constructor
    static_cast<void>(find_place([id](place& p) {
        if (p.whose.load(std::memory_order_relaxed) != id) return false; // relaxed: the fence
        static_cast<void>(p.token.request());
        wake_in_kernel(p);
        return false; // a handler may wait, too
    }));
}

void os_attention::note_handler(interruption by) noexcept {
    os_attention const* const here = s_of_caller;
    if (here == nullptr || here->m_handlers == ended_by::no_handler) return;
    if (by == interruption::restarts && here->m_handlers != ended_by::all_handlers) return;
    here->m_place->was_interrupted.store(true, std::memory_order_release); // pairs with renew
    call_server();
}

void os_attention::end_interrupted() noexcept {
    static_cast<void>(find_place([](place& p) {
        // acquire pairs with note_handler
        if (p.was_interrupted.load(std::memory_order_acquire)) static_cast<void>(p.token.request());
        return false;
    }));
}

// relaxed, all: there is one thread.
void os_attention::forget_others() noexcept {
    static_cast<void>(find_place([](place& p) {
        bool is_own = false;
        for (os_attention const* a = s_of_caller; a != nullptr && !is_own; a = a->m_outer)
            is_own = a->m_place == &p;
        if (!is_own) ::new (static_cast<void*>(&p)) place;
        return false;
    }));
}

os_attention::in_kernel::in_kernel(std::atomic<std::uint32_t>& word, limit until) noexcept {
    os_attention const* const here = s_of_caller;
    if (here == nullptr || until.token != &here->m_place->token) return;
    m_place = here->m_place;
    m_place->in_kernel_at.store(&word, std::memory_order_relaxed); // relaxed: the fence
    std::atomic_thread_fence(std::memory_order_seq_cst);           // pairs with wake_in_kernel
}

os_attention::in_kernel::~in_kernel() {
    // relaxed: one wake more does no harm
    if (m_place != nullptr) m_place->in_kernel_at.store(nullptr, std::memory_order_relaxed);
}

bool os_attention::in_kernel::is_over() const noexcept {
    return m_place != nullptr && m_place->token.is_requested();
}

} // namespace tulle::posix

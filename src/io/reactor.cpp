// SPDX-License-Identifier: Apache-2.0
#include "io/reactor.hpp"

#include "os/clock.hpp"
#include "os/thread.hpp"
#include "sched/scheduler.hpp"
#include "wait/limit_wait.hpp"

#include <array>
#include <cerrno>
#include <mutex>
#include <new>
#include <utility>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace tulle::io {

namespace {

constexpr std::uint64_t k_between_polls_ns = 20'000; // by busy workers
constexpr std::size_t k_events_at_once = 64;

wait::wait_reason reason_of(int number) noexcept {
    return {wait::wait_kind::descriptor,
            reinterpret_cast<void const*>(static_cast<std::uintptr_t>(number))};
}

// Which part of a limit that is over was reached.
wait_error end_of(wait::limit<parking> const& until) noexcept {
    return until.token != nullptr && until.token->is_requested() ? ECANCELED : ETIMEDOUT;
}

// In a deterministic run nothing else happens while the caller runs, and time is not the clock's:
// the OS thread waits for the descriptor; a limit passes first, in virtual time.
wait_error wait_alone(int number, direction way, wait::limit<parking> until) noexcept {
    pollfd asked{number, static_cast<short>(way == direction::in ? POLLIN : POLLOUT), 0};
    if (until.is_none()) {
        while (::poll(&asked, 1, -1) < 0 && errno == EINTR) {}
        return 0;
    }
    if (::poll(&asked, 1, 0) > 0) return 0;
    wait::outcome const how = wait::wait_for_limit<parking>(reason_of(number), until);
    if (::poll(&asked, 1, 0) > 0) return 0;
    return how == wait::outcome::cancelled ? ECANCELED : ETIMEDOUT;
}

} // namespace

// It is never destroyed: threads may wait at the end of the process.
reactor& reactor::instance() noexcept {
    alignas(reactor) static std::byte s_storage[sizeof(reactor)];
    static auto* const the = ::new (static_cast<void*>(s_storage)) reactor;
    return *the;
}

// --- waiting -------------------------------------------------------------------------------------

wait_error reactor::wait(int number, direction way, wait::limit<parking> until) noexcept {
    static_cast<void>(parking::self()); // may start the run time
    if (until.is_over()) return end_of(until);
    if (parking::is_deterministic()) return wait_alone(number, way, until);
    if (int const error = start()) return error;
    descriptor* const d = m_table.find_or_make(number);
    if (d == nullptr) return number < 0 ? EBADF : ENOMEM;
    // relaxed, both: queue_at tells who may have seen the old value.
    m_waiting.fetch_add(1, std::memory_order_relaxed);
    wait_error const error = queue_at(*d, way, until);
    m_waiting.fetch_sub(1, std::memory_order_relaxed);
    return error;
}

wait_error reactor::queue_at(descriptor& d, direction way, wait::limit<parking> until) noexcept {
    auto& list = d.waiting(way);
    int error = 0;
    std::uint32_t closings = 0;
    bool const is_guest = sched::this_worker()->is_guest();
    // On another stack, with the lock held.
    auto const queue = [&](wait::waiter<parking>& self) {
        closings = d.closings;
        list.push_back(self);
        error = arm(d);
        if (error != 0) list.unlink(self);
        if (error == 0 && !is_watched())
            is_guest ? watch() : sched::scheduler::instance().idle().tell_watcher();
        return error == 0;
    };
    if (until.is_none()) {
        wait::waiter<parking> self;
        wait::park(reason_of(d.number), self, d.lock, [&] { return queue(self); });
    } else {
        wait::timed_waiter<parking> self(until);
        if (!wait::park_until(
                reason_of(d.number), self, d.lock, list, [&] { return queue(self); }, [] {}))
            return self.load_state() == wait::outcome::cancelled ? ECANCELED : ETIMEDOUT;
    }
    if (error != 0) return error;
    std::lock_guard const held(d.lock);
    return d.closings == closings ? 0 : EBADF;
}

int reactor::arm(descriptor& d) noexcept { return m_events.arm(d.number, d.wanted(), &d); }

// The event was the last one until the descriptor is armed again, so those that wait for something
// else need that now. If it cannot be done, they find out why when they try themselves.
void reactor::deliver(descriptor& d, std::uint32_t events) noexcept {
    constexpr std::uint32_t k_both = EPOLLHUP | EPOLLERR;
    wait::wait_batch<parking> readers(nullptr), writers(nullptr);
    {
        std::lock_guard const held(d.lock);
        if ((events & (EPOLLIN | EPOLLRDHUP | k_both)) != 0) readers = d.readers.take_all();
        if ((events & (EPOLLOUT | k_both)) != 0) writers = d.writers.take_all();
        if (d.wanted() != 0 && arm(d) != 0)
            (d.readers.empty() ? writers : readers) =
                (d.readers.empty() ? d.writers : d.readers).take_all();
    }
    readers.wake_all();
    writers.wake_all();
}

void reactor::end_waits(int number) noexcept {
    descriptor* const d = m_table.find(number);
    if (d == nullptr) return;
    d->lock.lock();
    ++d->closings;
    wait::wait_batch<parking> readers = d->readers.take_all();
    wait::wait_batch<parking> writers = d->writers.take_all();
    d->lock.unlock();
    readers.wake_all();
    writers.wake_all();
}

// --- polling -------------------------------------------------------------------------------------

bool reactor::poll() noexcept {
    std::array<epoll_event, k_events_at_once> found;
    bool some = false;
    for (std::size_t count = found.size(); count == found.size();) {
        count = static_cast<std::size_t>(m_events.wait(found, 0));
        for (std::size_t k = 0; k < count; ++k)
            deliver(*static_cast<descriptor*>(found[k].data.ptr), found[k].events);
        some = some || count != 0;
    }
    return some;
}

// relaxed: two that poll at the same time do no harm.
bool reactor::poll_sometimes() noexcept {
    std::uint64_t const now = os::monotonic_ns();
    if (now - m_polled_at.load(std::memory_order_relaxed) < k_between_polls_ns) return false;
    m_polled_at.store(now, std::memory_order_relaxed);
    return poll();
}

// --- its OS thread -------------------------------------------------------------------------------

// acq_rel: whoever arms it comes after the OS thread that has seen it armed before.
void reactor::watch() noexcept {
    if (!is_awaited() || is_watched() || m_watched.exchange(true, std::memory_order_acq_rel))
        return;
    if (m_outer.arm(m_events.number(), EPOLLIN, &m_events) != 0)
        m_watched.store(false, std::memory_order_release);
}

void* reactor::run(void* self) {
    auto& r = *static_cast<reactor*>(self);
    os::set_name("tulle-io");
    r.m_tid.store(os::thread_id(), std::memory_order_relaxed); // relaxed: see owns_os_thread
    r.serve();
    return nullptr;
}

// Once an event has come, workers are awake, and the next one of them that sleeps sees to it that
// this is called again. If none is asleep, nor does soon, the watcher is there.
void reactor::serve() noexcept {
    for (;;) {
        std::array<epoll_event, 2> found;
        int const count = m_outer.wait(found, -1);
        for (int k = 0; k < count; ++k) {
            if (found[static_cast<std::size_t>(k)].data.ptr == &m_stop) return;
        }
        m_watched.store(false, std::memory_order_release); // pairs with watch
        if (!poll())
            watch();
        else if (is_awaited())
            sched::scheduler::instance().idle().tell_watcher();
    }
}

// --- start and stop ------------------------------------------------------------------------------

int reactor::start() noexcept {
    if (m_runs.load(std::memory_order_acquire)) return 0; // pairs with start_locked
    std::lock_guard const held(m_starting);
    return start_locked();
}

int reactor::start_locked() noexcept {
    if (m_runs.load(std::memory_order_relaxed)) return 0; // relaxed: under the lock
    int error = open();
    if (error == 0)
        error = os::with_signals_blocked([this] { return os::start_thread(m_thread, &run, this); });
    if (error != 0) {
        close();
        return error;
    }
    sched::scheduler::instance().set_event_source(this);
    m_runs.store(true, std::memory_order_release); // pairs with start
    return 0;
}

int reactor::open() noexcept {
    if (int const error = m_events.open()) return error;
    if (int const error = m_outer.open()) return error;
    m_stop = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return m_stop >= 0 ? m_outer.arm(m_stop, EPOLLIN, &m_stop) : errno;
}

// The OS thread may still be about to wake a worker for a thread that has ended since.
void reactor::stop_os_thread() noexcept {
    std::lock_guard const held(m_starting);
    if (!m_runs.load(std::memory_order_relaxed)) return; // relaxed: under the lock
    std::uint64_t const one = 1;
    static_cast<void>(::write(m_stop, &one, sizeof one)); // there is room
    pthread_join(m_thread, nullptr);
    sched::scheduler::instance().set_event_source(nullptr);
    m_runs.store(false, std::memory_order_relaxed); // relaxed: no thread is left that could wait
}

void reactor::close() noexcept {
    m_outer.close();
    m_events.close();
    if (m_stop >= 0) ::close(std::exchange(m_stop, -1));
    m_watched.store(false, std::memory_order_relaxed); // relaxed, both: nobody uses it
    m_tid.store(0, std::memory_order_relaxed);
}

void reactor::forget() noexcept {
    ::new (static_cast<void*>(&m_starting)) base::spin_lock;
    // relaxed, all: there is one OS thread.
    m_runs.store(false, std::memory_order_relaxed);
    m_waiting.store(0, std::memory_order_relaxed);
    sched::scheduler::instance().set_event_source(nullptr);
    m_table.forget_waiters();
    close(); // the parent has its own numbers for them
}

} // namespace tulle::io

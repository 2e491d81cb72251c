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

#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

namespace tulle::io {

namespace {

constexpr std::uint64_t k_between_polls_ns = 20'000; // by busy workers
constexpr std::uint32_t k_polls_per_check = 64;      // where each poll finds something
constexpr std::size_t k_events_at_once = 64;
constexpr int k_doze_ms = 1;

constexpr std::uint32_t k_in_events = EPOLLIN | EPOLLRDHUP;
constexpr std::uint32_t k_both_events = EPOLLHUP | EPOLLERR;
constexpr std::uint32_t k_end_events = k_both_events | EPOLLRDHUP;

constexpr std::uint32_t events_of(direction way) noexcept {
    return way == direction::in ? k_in_events : std::uint32_t{EPOLLOUT};
}

wait::wait_reason reason_of(int number) noexcept {
    return {wait::wait_kind::descriptor,
            reinterpret_cast<void const*>(static_cast<std::uintptr_t>(number))};
}

// -1: it is no socket.
int protocol_of(int number) noexcept {
    int value = 0;
    socklen_t size = sizeof value;
    return ::getsockopt(number, SOL_SOCKET, SO_PROTOCOL, &value, &size) == 0 ? value : -1;
}

// Reads of other streams end where the sender changes, too. relaxed, both: hints.
void note_kind(descriptor& d) noexcept {
    int const protocol = protocol_of(d.number);
    d.is_socket.store(protocol >= 0, std::memory_order_relaxed);
    d.is_stream.store(protocol == IPPROTO_TCP, std::memory_order_relaxed);
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

event_count reactor::look(int number, direction way) const noexcept {
    descriptor* const d = m_table.find(number);
    // acquire: the try comes after it.
    return d != nullptr ? d->events(way).load(std::memory_order_acquire) : k_never_looked;
}

wait_error reactor::wait(int number, direction way, event_count seen,
                         wait::limit<parking> until) noexcept {
    static_cast<void>(parking::self()); // may start the run time
    if (until.is_over()) return end_of(until);
    if (parking::is_deterministic()) return wait_alone(number, way, until);
    if (int const error = start()) return error;
    descriptor* const d = m_table.find_or_make(number);
    if (d == nullptr) return number < 0 ? EBADF : ENOMEM;
    m_waiting.fetch_add(1, std::memory_order_relaxed); // relaxed: enter makes a fence
    wait_error const error = queue_at(*d, way, seen, until);
    m_waiting.fetch_sub(1, std::memory_order_relaxed); // relaxed: a hint
    return error;
}

wait_error reactor::run_on_helper(void (*call)(void*) noexcept, void* argument,
                                  wait::limit<parking> until) noexcept {
    static_cast<void>(parking::self()); // may start the run time
    if (until.is_over()) return end_of(until);
    bool const blocks = parking::is_deterministic() || sched::this_worker()->is_guest();
    if (blocks || start() != 0) {
        call(argument);
        return 0;
    }
    // relaxed, both: hints. What comes from a helper comes from outside, as events do.
    m_waiting.fetch_add(1, std::memory_order_relaxed);
    wait_error const error = m_helpers.run(call, argument, until);
    m_waiting.fetch_sub(1, std::memory_order_relaxed);
    return error;
}

struct reactor::entry {
    descriptor& d;
    direction way;
    event_count seen;
    bool is_guest;
    int error = 0;
    std::uint32_t closings = 0;
};

wait_error reactor::queue_at(descriptor& d, direction way, event_count seen,
                             wait::limit<parking> until) noexcept {
    entry e{d, way, seen, sched::this_worker()->is_guest()};
    if (until.is_none()) {
        wait::waiter<parking> self;
        wait::park(reason_of(d.number), self, d.lock, [&] { return enter(e, self); });
    } else {
        wait::timed_waiter<parking> self(until);
        if (!wait::park_until(
                reason_of(d.number), self, d.lock, d.waiting(way), [&] { return enter(e, self); },
                [] {}))
            return self.load_state() == wait::outcome::cancelled ? ECANCELED : ETIMEDOUT;
    }
    if (e.error != 0) return e.error;
    std::lock_guard const held(d.lock);
    return d.closings == e.closings ? 0 : EBADF;
}

// On another stack, with the lock held. False: it need not wait, or cannot. The fence: either
// is_watched is false here, or whoever makes it false comes later and sees that somebody waits.
bool reactor::enter(entry& e, wait::waiter<parking>& self) noexcept {
    descriptor& d = e.d;
    e.closings = d.closings;
    // relaxed: written under the lock.
    bool const is_known = (d.reported & events_of(e.way)) != 0 && e.seen != k_never_looked;
    if (is_known && d.events(e.way).load(std::memory_order_relaxed) != e.seen) return false;
    d.waiting(e.way).push_back(self);
    if (!is_known) {
        e.error = report(d, d.reported | events_of(e.way) | EPOLLET);
        if (e.error != 0) {
            d.waiting(e.way).unlink(self);
            return false;
        }
    } else {
        check_later(d);
    }
    parking::machine::fence_seq_cst();
    if (!is_watched()) {
        if (e.is_guest) watch();
        sched::scheduler::instance().idle().tell_watcher();
    }
    return true;
}

// With the lock held: from now on these events of it are reported, and at once if one is true. The
// epoll may know this file already, from before the number was closed and given to it again.
int reactor::report(descriptor& d, std::uint32_t wanted) noexcept {
    bool const is_known = d.reported != 0;
    int error =
        is_known ? m_events.change(d.number, wanted, &d) : m_events.add(d.number, wanted, &d);
    bool const is_new = !is_known || error == ENOENT;
    if (error == ENOENT) error = m_events.add(d.number, wanted, &d);
    if (error == EEXIST) error = m_events.change(d.number, wanted, &d);
    d.reported = error == 0 ? wanted : 0;
    if (is_new) note_kind(d);
    return error;
}

// With the lock held.
void reactor::check_later(descriptor& d) noexcept {
    if (d.is_to_check) return;
    d.is_to_check = true;
    d.next_to_check = m_to_check.load(std::memory_order_relaxed); // relaxed: compared below
    // release pairs with check_all.
    while (!m_to_check.compare_exchange_weak(d.next_to_check, &d, std::memory_order_release,
                                             std::memory_order_relaxed)) {}
}

// acquire pairs with check_later.
void reactor::check_all() noexcept {
    descriptor* d = m_to_check.exchange(nullptr, std::memory_order_acquire);
    while (d != nullptr) {
        descriptor* const next = d->next_to_check;
        {
            std::lock_guard const held(d->lock);
            d->is_to_check = false; // from now on it may be listed anew
        }
        check(*d);
        d = next;
    }
}

// If it cannot be reported, those that wait find out why when they try themselves.
void reactor::check(descriptor& d) noexcept {
    wait::wait_batch<parking> readers(nullptr), writers(nullptr);
    {
        std::lock_guard const held(d.lock);
        if (d.readers.empty() && d.writers.empty()) return;
        // Of a number that is another file's since (expect_new) nothing is reported yet.
        std::uint32_t const wanted = d.reported | EPOLLET |
                                     (d.readers.empty() ? 0U : events_of(direction::in)) |
                                     (d.writers.empty() ? 0U : events_of(direction::out));
        if (report(d, wanted) == 0) return;
        readers = d.readers.take_all();
        writers = d.writers.take_all();
    }
    readers.wake_all();
    writers.wake_all();
}

void reactor::deliver(descriptor& d, std::uint32_t events) noexcept {
    wait::wait_batch<parking> readers(nullptr), writers(nullptr);
    {
        std::lock_guard const held(d.lock);
        // Of the end no other event may come, so that no read is in vain any more. relaxed: the
        // count that follows orders it.
        if ((events & k_end_events) != 0) d.is_stream.store(false, std::memory_order_relaxed);
        if ((events & (k_in_events | k_both_events)) != 0) {
            d.count_event(direction::in);
            readers = d.readers.take_all();
        }
        if ((events & (EPOLLOUT | k_both_events)) != 0) {
            d.count_event(direction::out);
            writers = d.writers.take_all();
        }
    }
    readers.wake_all();
    writers.wake_all();
}

// Who has tried before, and has not queued yet, tries again. Who begins to wait before the system
// has done it is found afterwards.
int reactor::replace(int number, int (*call)(void*) noexcept, void* argument) noexcept {
    descriptor* const d = m_table.find(number);
    if (d == nullptr) return call(argument);
    d->lock.lock();
    ++d->closings;
    d->begin_anew();
    wait::wait_batch<parking> readers = d->readers.take_all();
    wait::wait_batch<parking> writers = d->writers.take_all();
    d->lock.unlock();
    int const result = call(argument);
    check(*d);
    readers.wake_all();
    writers.wake_all();
    return result;
}

void reactor::expect_new(int number) noexcept {
    descriptor* const d = m_table.find(number);
    if (d == nullptr) return;
    std::lock_guard const held(d->lock);
    d->begin_anew();
    // They wait for a file that was closed by the system's call: for this one from now on.
    if (!d->readers.empty() || !d->writers.empty()) check_later(*d);
}

// --- polling -------------------------------------------------------------------------------------

// relaxed, all hints: two that poll at the same time do no harm.
bool reactor::take_events(std::uint64_t now) noexcept {
    m_polled_at.store(now, std::memory_order_relaxed);
    m_poller.store(sched::this_worker(), std::memory_order_relaxed);
    std::uint32_t const polls = m_polls.load(std::memory_order_relaxed) + 1;
    m_polls.store(polls, std::memory_order_relaxed);
    std::array<epoll_event, k_events_at_once> found;
    bool some = false;
    for (std::size_t count = found.size(); count == found.size();) {
        count = static_cast<std::size_t>(m_events.wait(found, 0));
        for (std::size_t k = 0; k < count; ++k)
            deliver(*static_cast<descriptor*>(found[k].data.ptr), found[k].events);
        some = some || count != 0;
    }
    bool const is_due = !some || polls % k_polls_per_check == 0;
    if (is_due && m_to_check.load(std::memory_order_relaxed) != nullptr) check_all();
    return some;
}

bool reactor::is_polled_by_others(std::uint64_t now, void const* caller) const noexcept {
    void const* const poller = m_poller.load(std::memory_order_relaxed);
    return poller != nullptr && poller != caller &&
           now - m_polled_at.load(std::memory_order_relaxed) < k_between_polls_ns;
}

// Threads that wake each other by their output stay on one worker: another one that searches takes
// no events while that one comes back to them all the time.
bool reactor::poll() noexcept {
    std::uint64_t const now = os::monotonic_ns();
    return !is_polled_by_others(now, sched::this_worker()) && take_events(now);
}

bool reactor::poll_sometimes() noexcept {
    std::uint64_t const now = os::monotonic_ns();
    return now - m_polled_at.load(std::memory_order_relaxed) >= k_between_polls_ns &&
           take_events(now);
}

// --- its OS thread -------------------------------------------------------------------------------

// acq_rel: whoever arms it comes after the OS thread that has seen it armed before.
void reactor::watch() noexcept {
    // relaxed, both: hints.
    if (m_poller.load(std::memory_order_relaxed) == sched::this_worker())
        m_poller.store(nullptr, std::memory_order_relaxed);
    if (!is_awaited() || m_watched.load(std::memory_order_relaxed) ||
        m_watched.exchange(true, std::memory_order_acq_rel))
        return;
    if (m_outer.change(m_events.number(), EPOLLIN | EPOLLONESHOT, &m_events) != 0)
        m_watched.store(false, std::memory_order_release);
}

void* reactor::run(void* self) {
    auto& r = *static_cast<reactor*>(self);
    os::set_name("tulle-io");
    r.m_tid.store(os::thread_id(), std::memory_order_relaxed); // relaxed: see owns_os_thread
    r.serve();
    return nullptr;
}

void reactor::serve() noexcept {
    for (;;) {
        std::array<epoll_event, 2> found;
        // relaxed: only this thread writes it.
        int const limit_ms = m_dozes.load(std::memory_order_relaxed) ? k_doze_ms : -1;
        int const count = m_outer.wait(found, limit_ms);
        for (int k = 0; k < count; ++k) {
            if (found[static_cast<std::size_t>(k)].data.ptr == &m_stop) return;
        }
        if (count != 0) m_watched.store(false, std::memory_order_release); // pairs with watch
        serve_event();
    }
}

// While a worker polls it need not be disturbed: it would lose its events to this thread, which
// hands them to another worker. It may begin to compute at any time, however. Once events have been
// taken here, workers are awake, and the next one of them that sleeps sees to it that this is
// called again. If none is asleep, nor is soon, the watcher is there.
void reactor::serve_event() noexcept {
    std::uint64_t const now = os::monotonic_ns();
    bool const dozes = is_awaited() && is_polled_by_others(now, nullptr);
    m_dozes.store(dozes, std::memory_order_relaxed); // relaxed: the fence orders it
    parking::machine::fence_seq_cst();               // pairs with enter
    if (dozes) return;
    if (!take_events(now))
        watch();
    else if (is_awaited())
        sched::scheduler::instance().idle().tell_watcher();
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
    // It is silent until watch() changes it.
    if (int const error = m_outer.add(m_events.number(), EPOLLONESHOT, &m_events)) return error;
    m_stop = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return m_stop >= 0 ? m_outer.add(m_stop, EPOLLIN, &m_stop) : errno;
}

// The OS thread may still be about to wake a worker for a thread that has ended since.
void reactor::stop_os_thread() noexcept {
    std::lock_guard const held(m_starting);
    if (!m_runs.load(std::memory_order_relaxed)) return; // relaxed: under the lock
    std::uint64_t const one = 1;
    static_cast<void>(::write(m_stop, &one, sizeof one)); // there is room
    pthread_join(m_thread, nullptr);
    m_helpers.stop();
    sched::scheduler::instance().set_event_source(nullptr);
    m_runs.store(false, std::memory_order_relaxed); // relaxed: no thread is left that could wait
}

void reactor::close() noexcept {
    m_outer.close();
    m_events.close();
    if (m_stop >= 0) ::close(std::exchange(m_stop, -1));
    // relaxed, all: nobody uses it.
    m_watched.store(false, std::memory_order_relaxed);
    m_dozes.store(false, std::memory_order_relaxed);
    m_tid.store(0, std::memory_order_relaxed);
    m_poller.store(nullptr, std::memory_order_relaxed);
    m_to_check.store(nullptr, std::memory_order_relaxed);
    m_table.forget_all();
}

void reactor::forget() noexcept {
    ::new (static_cast<void*>(&m_starting)) base::spin_lock;
    // relaxed, all: there is one OS thread.
    m_runs.store(false, std::memory_order_relaxed);
    m_waiting.store(0, std::memory_order_relaxed);
    m_helpers.forget();
    sched::scheduler::instance().set_event_source(nullptr);
    close(); // the parent has its own numbers for them
}

} // namespace tulle::io

// SPDX-License-Identifier: Apache-2.0
#include "io/reactor.hpp"

#include "os/clock.hpp"
#include "sched/scheduler.hpp"
#include "wait/limit_wait.hpp"

#include <algorithm>
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

constexpr std::uint64_t k_between_polls_ns = 20'000;  // by busy workers
constexpr std::uint64_t k_behind_many_ns = 1'000'000; // by those with many ready threads
constexpr std::uint64_t k_after_nothing_ns = 4'000;   // by workers that search
constexpr std::uint64_t k_doze_ns = 1'000'000;
constexpr std::uint32_t k_proofs = 4; // that the epoll knows a file, which is then checked late

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
// the OS thread waits for the descriptors; a limit passes first, in virtual time.
wait_error wait_alone(std::span<awaited_one const> some, wait::limit<parking> until) noexcept {
    std::array<pollfd, reactor::k_most_awaited> asked{};
    auto const end =
        std::transform(some.begin(), some.end(), asked.begin(), [](awaited_one const& a) -> pollfd {
            return {a.number, static_cast<short>(a.way == direction::in ? POLLIN : POLLOUT), 0};
        });
    auto const count = static_cast<nfds_t>(end - asked.begin());
    if (until.is_none()) {
        while (::poll(asked.data(), count, -1) < 0 && errno == EINTR) {}
        return 0;
    }
    if (::poll(asked.data(), count, 0) > 0) return 0;
    wait::outcome const how = wait::wait_for_limit<parking>(reason_of(some[0].number), until);
    if (::poll(asked.data(), count, 0) > 0) return 0;
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
    if (number < 0) return EBADF;
    if (until.is_over()) return end_of(until);
    if (parking::is_deterministic()) {
        awaited_one const one{number, way, seen};
        return wait_alone({&one, 1}, until);
    }
    if (int const error = start()) return error;
    descriptor* const d = m_table.find_or_make(number);
    if (d == nullptr) return ENOMEM;
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

// Whatever the worker had to do must be nobody else's to do: its own threads, and events, which it
// may be the only one to look for. If the call takes long after all, the scheduler's watcher finds
// the worker in the kernel.
bool reactor::may_block() const noexcept {
    sched::worker const* const w = sched::this_worker();
    if (w == nullptr || w->is_guest() || parking::is_deterministic()) return false;
    sched::scheduler& s = *w->owner;
    return s.chosen().max_substitutes != 0 && w->ready.looks_empty() && w->mailbox.looks_empty() &&
           s.idle().somebody_sleeps() && (!is_awaited() || is_watched());
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

struct reactor::entries {
    wait::timed_waiter<parking> self;
    bool is_guest;
    int error = 0;
    std::array<shared_place, k_most_awaited> places{};
    std::size_t count = 0;
};

wait_error reactor::wait_for_any(std::span<awaited_one const> some,
                                 wait::limit<parking> until) noexcept {
    static_cast<void>(parking::self()); // may start the run time
    if (until.is_over()) return end_of(until);
    if (parking::is_deterministic()) return wait_alone(some, until);
    if (int const error = start()) return error;
    entries e{wait::timed_waiter<parking>(until), sched::this_worker()->is_guest()};
    if (!find_all(e, some)) return ENOMEM;
    m_waiting.fetch_add(1, std::memory_order_relaxed); // relaxed: begin_wait makes a fence
    wait_error const error = queue_at_all(e);
    m_waiting.fetch_sub(1, std::memory_order_relaxed); // relaxed: a hint
    return error;
}

bool reactor::find_all(entries& e, std::span<awaited_one const> some) noexcept {
    for (awaited_one const& one : some) {
        shared_place& p = e.places[e.count++];
        p.at = m_table.find_or_make(one.number);
        if (p.at == nullptr) return false;
        p.waiter = &e.self;
        p.way = one.way;
        p.seen = one.seen;
    }
    return true;
}

// The guard keeps the thread, which may be resumed before it has its place at all of them, until
// enter_all and the start of the limit are over.
wait_error reactor::queue_at_all(entries& e) noexcept {
    parking::lock guard;
    wait::park(
        reason_of(e.places[0].at->number), static_cast<wait::waiter<parking>&>(e.self), guard,
        [&] { return enter_all(e); }, &e.self);
    { std::lock_guard const entered(guard); }
    e.self.stop();
    bool is_closed = false;
    for (shared_place& p : std::span(e.places).first(e.count)) {
        std::lock_guard const held(p.at->lock);
        if (!p.is_linked) continue;
        p.at->shared.remove(p);
        is_closed = is_closed || p.at->closings != p.closings;
    }
    if (e.error != 0) return e.error;
    if (e.self.has_ended())
        return e.self.load_state() == wait::outcome::cancelled ? ECANCELED : ETIMEDOUT;
    return is_closed ? EBADF : 0;
}

// On another stack, with the guard held. False: it need not wait, or cannot; if an event has ended
// the wait meanwhile, whoever has brought that resumes the thread.
bool reactor::enter_all(entries& e) noexcept {
    for (shared_place& p : std::span(e.places).first(e.count)) {
        std::lock_guard const held(p.at->lock);
        p.closings = p.at->closings;
        if (!is_to_wait(*p.at, p.way, p.seen, e.error)) return !e.self.try_wake();
        p.at->shared.push_back(p);
        p.is_linked = true;
    }
    begin_wait(e.is_guest);
    return true;
}

// On another stack, with the lock held. False: it need not wait, or cannot.
bool reactor::enter(entry& e, wait::waiter<parking>& self) noexcept {
    e.closings = e.d.closings;
    if (!is_to_wait(e.d, e.way, e.seen, e.error)) return false;
    e.d.waiting(e.way).push_back(self);
    begin_wait(e.is_guest);
    return true;
}

// With the lock held, by a thread that is in the list as soon as the lock is free. False: nothing
// is to be waited for, or there is an error.
bool reactor::is_to_wait(descriptor& d, direction way, event_count seen, int& error) noexcept {
    ++d.waits;
    // relaxed: written under the lock.
    bool const is_known = (d.reported & events_of(way)) != 0 && seen != k_never_looked;
    if (is_known && d.events(way).load(std::memory_order_relaxed) != seen) return false;
    if (!is_known)
        error = report(d, d.reported | events_of(way) | EPOLLET);
    else if (!d.is_to_check)
        check_later(d, d.waits - 1);
    return error == 0;
}

// The fence: either is_watched is false here, or whoever makes it false comes later and sees that
// somebody waits.
void reactor::begin_wait(bool is_guest) noexcept {
    parking::machine::fence_seq_cst(); // pairs with end_rest
    if (is_watched()) return;
    auto& idle = sched::scheduler::instance().idle();
    if (is_guest) static_cast<void>(idle.wake_one()); // to rest, if none of them does
    idle.tell_watcher();
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
    if (is_new) {
        d.proofs = 0;
        note_kind(d);
    }
    return error;
}

// With the lock held.
void reactor::check_later(descriptor& d, std::uint32_t waits_before) noexcept {
    (d.proofs < k_proofs ? m_check_soon : m_check_late).enter(d, waits_before);
}

void reactor::check_due(std::uint64_t now) noexcept {
    auto const again = [this](descriptor& d) { check_later(d, d.waits); };
    auto const check_it = [this](descriptor& d) { check(d); };
    m_check_soon.round_if_due(now, again, check_it);
    m_check_late.round_if_due(now, again, check_it);
}

std::uint64_t reactor::next_round() const noexcept {
    return std::min(m_check_soon.next_round(), m_check_late.next_round());
}

// If it cannot be reported, those that wait find out why when they try themselves.
void reactor::check(descriptor& d) noexcept {
    wait::wait_batch<parking> readers(nullptr), writers(nullptr);
    wait::woken_chain<parking> others;
    {
        std::lock_guard const held(d.lock);
        if (!d.is_awaited()) return;
        // Of a number that is another file's since (expect_new) nothing is reported yet.
        std::uint32_t const wanted =
            d.reported | EPOLLET | (d.is_awaited(direction::in) ? events_of(direction::in) : 0U) |
            (d.is_awaited(direction::out) ? events_of(direction::out) : 0U);
        d.checked_at = m_polls.load(std::memory_order_relaxed); // relaxed: a hint
        if (report(d, wanted) == 0) return;
        readers = d.readers.take_all();
        writers = d.writers.take_all();
        d.end_shared(direction::in, others);
        d.end_shared(direction::out, others);
    }
    readers.wake_all();
    writers.wake_all();
    others.resume_all();
}

// With the lock held: an event has ended a wait. If that was checked just before, the event may
// have come of it only, so the file may be new, or there may have been more than a short read took.
void reactor::note_proof(descriptor& d) noexcept {
    // relaxed: a hint.
    bool const is_of_check = m_polls.load(std::memory_order_relaxed) - d.checked_at <= 1;
    d.proofs = is_of_check ? 0 : d.proofs + 1;
}

void reactor::deliver(descriptor& d, std::uint32_t events) noexcept {
    wait::wait_batch<parking> readers(nullptr), writers(nullptr);
    wait::woken_chain<parking> others;
    {
        std::lock_guard const held(d.lock);
        // Of the end no other event may come, so that no read is in vain any more. relaxed: the
        // count that follows orders it.
        if ((events & k_end_events) != 0) d.is_stream.store(false, std::memory_order_relaxed);
        if (d.is_awaited()) note_proof(d);
        if ((events & (k_in_events | k_both_events)) != 0) {
            d.count_event(direction::in);
            readers = d.readers.take_all();
            d.end_shared(direction::in, others);
        }
        if ((events & (EPOLLOUT | k_both_events)) != 0) {
            d.count_event(direction::out);
            writers = d.writers.take_all();
            d.end_shared(direction::out, others);
        }
    }
    readers.wake_all();
    writers.wake_all();
    others.resume_all();
}

// True: there was one of a descriptor.
bool reactor::deliver_all(std::span<epoll_event const> found) noexcept {
    bool some = false;
    for (epoll_event const& e : found) {
        if (e.data.ptr == &m_wakes) continue; // the worker that rests takes it
        deliver(*static_cast<descriptor*>(e.data.ptr), e.events);
        some = true;
    }
    return some;
}

// Who has tried before, and has not queued yet, tries again. Who begins to wait before the system
// has done it is found afterwards.
int reactor::replace(int number, int (*call)(void*) noexcept, void* argument) noexcept {
    descriptor* const d = m_table.find(number);
    if (d == nullptr) return call(argument);
    d->lock.lock();
    ++d->closings;
    if (d->reported != 0) m_events.remove(number); // its file may be open elsewhere, too
    d->begin_anew();
    wait::wait_batch<parking> readers = d->readers.take_all();
    wait::wait_batch<parking> writers = d->writers.take_all();
    wait::woken_chain<parking> others;
    d->end_shared(direction::in, others);
    d->end_shared(direction::out, others);
    d->lock.unlock();
    int const result = call(argument);
    check(*d);
    readers.wake_all();
    writers.wake_all();
    others.resume_all();
    return result;
}

int reactor::prepare() noexcept {
    static_cast<void>(parking::self()); // may start the run time
    return parking::is_deterministic() ? 0 : start();
}

void reactor::expect_new(int number) noexcept {
    descriptor* const d = m_table.find(number);
    if (d == nullptr) return;
    d->lock.lock();
    d->begin_anew();
    d->lock.unlock();
    check(*d); // some may wait for a file that was closed by the system's call: for this one now
}

// --- polling -------------------------------------------------------------------------------------

// relaxed, all hints: two that poll at the same time do no harm.
void reactor::note_poll(std::uint64_t now) noexcept {
    m_polled_at.store(now, std::memory_order_relaxed);
    m_poller.store(sched::this_worker(), std::memory_order_relaxed);
    m_polls.store(m_polls.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

bool reactor::take_events(std::uint64_t now, std::size_t most) noexcept {
    note_poll(now);
    event_buffer found;
    auto const count = static_cast<std::size_t>(m_events.wait({found.data(), most}, 0));
    bool const some = deliver_all({found.data(), count});
    // relaxed: a hint.
    if (!some) m_poll_again_at.store(now + k_after_nothing_ns, std::memory_order_relaxed);
    check_due(now);
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
    return now >= m_poll_again_at.load(std::memory_order_relaxed) &&
           !is_polled_by_others(now, sched::this_worker()) && take_events(now);
}

// Events that come to a worker with many ready threads would only wait there instead of in the
// epoll, from where another worker takes them in the order in which they have come.
bool reactor::poll_sometimes(std::uint32_t ready) noexcept {
    std::uint64_t const now = os::monotonic_ns();
    std::uint64_t const ago = now - m_polled_at.load(std::memory_order_relaxed);
    if (ready < k_events_at_once) return ago >= k_between_polls_ns && take_events(now);
    return ago >= k_behind_many_ns && take_events(now, k_events_behind_many);
}

// --- the worker that rests -----------------------------------------------------------------------

// While another one polls it would only take the events from that one; but that may begin to
// compute at any time. If it goes to sleep, it takes the place of one that dozes.
std::uint64_t reactor::begin_rest(void const* worker) noexcept {
    auto const self = reinterpret_cast<std::uintptr_t>(worker);
    std::uint64_t const now = os::monotonic_ns();
    bool const dozes = is_polled_by_others(now, worker);
    std::uintptr_t before = m_rester.load(std::memory_order_relaxed); // relaxed: compared below
    bool const is_free = before == k_nobody || (before & k_dozes) != 0;
    bool const is_own = (before & ~k_dozes) == self;
    if (!is_free || (dozes && before != k_nobody && !is_own)) return os::k_no_deadline;
    // acq_rel: pairs with end_rest of the one before, who has used the buffer.
    if (!m_rester.compare_exchange_strong(before, self | (dozes ? k_dozes : 0),
                                          std::memory_order_acq_rel, std::memory_order_relaxed))
        return os::k_no_deadline;
    m_sees_rounds.store(true, std::memory_order_relaxed);           // relaxed: a hint
    if (!dozes) m_poller.store(nullptr, std::memory_order_relaxed); // relaxed: a hint
    return dozes ? now + k_doze_ns : 0;
}

bool reactor::rest(std::uint64_t until) noexcept {
    for (;;) {
        std::uint64_t const round = next_round();
        m_sees_rounds.store(round != os::k_no_deadline, std::memory_order_relaxed); // a hint
        m_found_count =
            static_cast<std::size_t>(m_events.wait_until(m_found, std::min(until, round)));
        auto const is_wake = [this](epoll_event const& e) { return e.data.ptr == &m_wakes; };
        bool const is_woken =
            std::any_of(m_found.begin(), m_found.begin() + m_found_count, is_wake);
        if (is_woken) silence();
        if (m_found_count > (is_woken ? 1U : 0U)) return true;
        if (is_woken) return false;
        std::uint64_t const now = os::monotonic_ns();
        if (now >= round) return true;
        if (now >= until) return false;
    }
}

void reactor::take_found() noexcept {
    std::uint64_t const now = os::monotonic_ns();
    note_poll(now);
    static_cast<void>(deliver_all({m_found.data(), m_found_count}));
    check_due(now);
}

// The fence: either whoever begins to wait finds that nobody rests (enter), or it is seen here.
void reactor::end_rest(void const* worker) noexcept {
    auto const self = reinterpret_cast<std::uintptr_t>(worker);
    std::uintptr_t before = m_rester.load(std::memory_order_relaxed); // relaxed: compared below
    if ((before & ~k_dozes) != self) return;
    // release pairs with begin_rest; relaxed: another one has taken the place.
    if (!m_rester.compare_exchange_strong(before, k_nobody, std::memory_order_release,
                                          std::memory_order_relaxed))
        return;
    parking::machine::fence_seq_cst();
    if (is_awaited()) sched::scheduler::instance().idle().tell_watcher();
}

void reactor::wake() noexcept {
    std::uint64_t const one = 1;
    static_cast<void>(::write(m_wakes, &one, sizeof one)); // there is room
}

void reactor::silence() noexcept {
    std::uint64_t count = 0;
    static_cast<void>(::read(m_wakes, &count, sizeof count)); // it does not block
}

// --- start and stop ------------------------------------------------------------------------------

int reactor::start() noexcept {
    if (m_runs.load(std::memory_order_acquire)) return 0; // pairs with start_locked
    std::lock_guard const held(m_starting);
    return start_locked();
}

int reactor::start_locked() noexcept {
    if (m_runs.load(std::memory_order_relaxed)) return 0; // relaxed: under the lock
    if (int const error = open()) {
        close();
        return error;
    }
    sched::scheduler::instance().set_event_source(this);
    m_runs.store(true, std::memory_order_release); // pairs with start
    return 0;
}

int reactor::open() noexcept {
    if (int const error = m_events.open()) return error;
    m_wakes = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return m_wakes >= 0 ? m_events.add(m_wakes, EPOLLIN, &m_wakes) : errno;
}

void reactor::stop_helpers() noexcept {
    std::lock_guard const held(m_starting);
    if (!m_runs.load(std::memory_order_relaxed)) return; // relaxed: under the lock
    m_helpers.stop();
    sched::scheduler::instance().set_event_source(nullptr);
    m_runs.store(false, std::memory_order_relaxed); // relaxed: no thread is left that could wait
}

void reactor::close() noexcept {
    m_events.close();
    if (m_wakes >= 0) ::close(std::exchange(m_wakes, -1));
    // relaxed, all: nobody uses it.
    m_rester.store(k_nobody, std::memory_order_relaxed);
    m_poller.store(nullptr, std::memory_order_relaxed);
    m_check_soon.forget();
    m_check_late.forget();
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

// SPDX-License-Identifier: Apache-2.0
#include "io/reactor.hpp"

#include "os/clock.hpp"
#include "sched/scheduler.hpp"
#include "wait/limit_wait.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>
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
// That count for a direction.
constexpr std::uint32_t k_counted_in =
    k_both_events | k_in_events | EPOLLPRI | EPOLLRDNORM | EPOLLRDBAND | EPOLLMSG;
constexpr std::uint32_t k_counted_out = k_both_events | EPOLLOUT | EPOLLWRNORM | EPOLLWRBAND;

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
wait_error wait_alone(std::span<pollfd> asked, wait::limit<parking> until) noexcept {
    auto const count = static_cast<nfds_t>(asked.size());
    if (until.is_none()) {
        while (::poll(asked.data(), count, -1) < 0 && errno == EINTR) {}
        return 0;
    }
    if (::poll(asked.data(), count, 0) > 0) return 0;
    int const number = asked.empty() ? -1 : asked.front().fd;
    wait::outcome const how = wait::wait_for_limit<parking>(reason_of(number), until);
    if (::poll(asked.data(), count, 0) > 0) return 0;
    return how == wait::outcome::cancelled ? ECANCELED : ETIMEDOUT;
}
wait_error wait_alone(int number, direction way, wait::limit<parking> until) noexcept {
    pollfd asked{number, static_cast<short>(way == direction::in ? POLLIN : POLLOUT), 0};
    return wait_alone({&asked, 1}, until);
}
wait_error wait_alone(std::span<awaited_descriptor const> several,
                      wait::limit<parking> until) noexcept {
    std::unique_ptr<pollfd[]> const asked(new (std::nothrow) pollfd[several.size()]);
    if (asked == nullptr) return ENOMEM;
    for (std::size_t k = 0; k < several.size(); ++k)
        asked[k] = {several[k].number, several[k].asked, 0};
    return wait_alone(std::span(asked.get(), several.size()), until);
}

// The first one; a time is waited for, if there is none.
wait::wait_reason reason_of(std::span<awaited_descriptor const> several) noexcept {
    auto const first = std::find_if(several.begin(), several.end(),
                                    [](awaited_descriptor const& a) { return a.number >= 0; });
    return first != several.end() ? reason_of(first->number)
                                  : wait::wait_reason{wait::wait_kind::sleep, nullptr};
}

// Whether it has been reported since it was looked at. With the lock held.
bool has_come(awaited_descriptor const& a, descriptor const& d) noexcept {
    // relaxed, both: written under the lock.
    return ((a.events & k_counted_in) != 0 &&
            d.in_events.load(std::memory_order_relaxed) != a.seen_in) ||
           ((a.events & k_counted_out & ~k_both_events) != 0 &&
            d.out_events.load(std::memory_order_relaxed) != a.seen_out);
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
    if (parking::is_deterministic()) return wait_alone(number, way, until);
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

wait_error reactor::wait_for_any(std::span<awaited_descriptor> several,
                                 wait::limit<parking> until) noexcept {
    static_cast<void>(parking::self()); // may start the run time
    if (until.is_over()) return end_of(until);
    if (parking::is_deterministic()) return wait_alone(several, until);
    if (int const error = start()) return error;
    m_waiting.fetch_add(1, std::memory_order_relaxed); // relaxed: tell_of_wait makes a fence
    wait_error const error = wait_in_each(several, until);
    m_waiting.fetch_sub(1, std::memory_order_relaxed); // relaxed: a hint
    return error;
}

wait_error reactor::wait_in_each(std::span<awaited_descriptor> several,
                                 wait::limit<parking> until) noexcept {
    poll_wait<parking> waiting;
    wait_error error = 0;
    bool const waits = std::all_of(several.begin(), several.end(), [&](awaited_descriptor& a) {
        return a.number < 0 || enter(a, waiting, error);
    });
    if (waits) {
        tell_of_wait(sched::this_worker()->is_guest());
        wait::outcome const how = waiting.wait(reason_of(several), until);
        if (how == wait::outcome::timed_out) error = ETIMEDOUT;
        if (how == wait::outcome::cancelled) error = ECANCELED;
    }
    for (awaited_descriptor& a : several) {
        if (a.at == nullptr) continue;
        std::lock_guard const held(a.at->lock);
        std::exchange(a.at, nullptr)->polls.remove(a);
    }
    return error;
}

// False: it need not wait, or cannot.
bool reactor::enter(awaited_descriptor& a, poll_wait<parking>& waiting,
                    wait_error& error) noexcept {
    descriptor* const d = m_table.find_or_make(a.number);
    if (d == nullptr) {
        error = ENOMEM;
        return false;
    }
    std::lock_guard const held(d->lock);
    ++d->waits;
    bool const is_known = d->reported != 0 && (d->reported & a.events) == a.events &&
                          a.seen_in != k_never_looked && a.seen_out != k_never_looked;
    if (is_known && has_come(a, *d)) return false;
    a.of = &waiting;
    d->polls.add(a);
    a.at = d;
    if (is_known) {
        // Soon: what is polled together is seldom known by many events.
        if (!d->is_to_check) m_check_soon.enter(*d, d->waits - 1);
        return true;
    }
    error = report(*d, d->reported | a.events);
    if (error == 0) return true;
    d->polls.remove(a);
    a.at = nullptr;
    // EPERM: what it is asked for never comes to be of such a file, such as a regular one. EBADF:
    // it has been closed since, which counts as ready.
    bool const waits_for_others = error == EPERM;
    if (error == EPERM || error == EBADF) error = 0;
    return waits_for_others;
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

// On another stack, with the lock held. False: it need not wait, or cannot.
bool reactor::enter(entry& e, wait::waiter<parking>& self) noexcept {
    descriptor& d = e.d;
    e.closings = d.closings;
    ++d.waits;
    // relaxed: written under the lock.
    std::uint32_t const wanted = events_of(e.way);
    bool const is_known = (d.reported & wanted) == wanted && e.seen != k_never_looked;
    if (is_known && d.events(e.way).load(std::memory_order_relaxed) != e.seen) return false;
    d.waiting(e.way).push_back(self);
    if (!is_known) {
        e.error = report(d, d.reported | wanted);
        if (e.error != 0) {
            d.waiting(e.way).unlink(self);
            return false;
        }
    } else if (!d.is_to_check) {
        check_later(d, d.waits - 1);
    }
    tell_of_wait(e.is_guest);
    return true;
}

// The fence: either is_watched is false here, or whoever makes it false comes later and sees that
// somebody waits.
void reactor::tell_of_wait(bool is_guest) noexcept {
    parking::machine::fence_seq_cst(); // pairs with end_rest
    if (is_watched()) return;
    auto& idle = sched::scheduler::instance().idle();
    if (is_guest) static_cast<void>(idle.wake_one()); // to rest, if none of them does
    idle.tell_watcher();
}

// With the lock held: from now on these events of it are reported, and at once if one is true. The
// epoll may know this file already, from before the number was closed and given to it again.
int reactor::report(descriptor& d, std::uint32_t wanted) noexcept {
    wanted |= EPOLLET | EPOLLRDHUP; // of the end is_drained must know
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
    woken_waits woken;
    {
        std::lock_guard const held(d.lock);
        if (!d.is_awaited()) return;
        // Of a number that is another file's since (expect_new) nothing is reported yet.
        // That there is room is seldom waited for, and told all the time.
        std::uint32_t const wanted = (d.reported & k_in_events) | d.polls.wanted() |
                                     (d.readers.empty() ? 0U : events_of(direction::in)) |
                                     (d.writers.empty() ? 0U : events_of(direction::out));
        d.checked_at = m_polls.load(std::memory_order_relaxed); // relaxed: a hint
        if (report(d, wanted) == 0) return;
        d.end_waits(woken);
    }
    woken.resume_all();
}

// With the lock held: an event has ended a wait. If that was checked just before, the event may
// have come of it only, so the file may be new, or there may have been more than a short read took.
void reactor::note_proof(descriptor& d) noexcept {
    // relaxed: a hint.
    bool const is_of_check = m_polls.load(std::memory_order_relaxed) - d.checked_at <= 1;
    d.proofs = is_of_check ? 0 : d.proofs + 1;
    if (!is_of_check) d.rounds = 0;
}

void reactor::deliver(descriptor& d, std::uint32_t events) noexcept {
    woken_waits woken;
    {
        std::lock_guard const held(d.lock);
        // Of the end no other event may come, so that no read is in vain any more. relaxed: the
        // count that follows orders it.
        if ((events & k_end_events) != 0) d.is_stream.store(false, std::memory_order_relaxed);
        bool ends_some = (d.polls.wanted() & events) != 0;
        if ((events & k_counted_in) != 0) {
            d.count_event(direction::in);
            ends_some |= !d.readers.empty();
            woken.readers = d.readers.take_all();
        }
        if ((events & k_counted_out) != 0) {
            d.count_event(direction::out);
            ends_some |= !d.writers.empty();
            woken.writers = d.writers.take_all();
        }
        d.polls.end(events, woken.polls);
        if (ends_some) note_proof(d);
    }
    woken.resume_all();
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
    if (d == nullptr) {
        int const result = call(argument);
        expect_new(number); // somebody may have begun to wait for the old file meanwhile
        return result;
    }
    d->lock.lock();
    ++d->closings;
    if (d->reported != 0) m_events.remove(number); // its file may be open elsewhere, too
    d->begin_anew();
    woken_waits woken;
    d->end_waits(woken);
    d->lock.unlock();
    int const result = call(argument);
    check(*d);
    woken.resume_all();
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
    static_cast<void>(::write(m_wakes.number(), &one, sizeof one)); // there is room
}

void reactor::silence() noexcept {
    std::uint64_t count = 0;
    static_cast<void>(::read(m_wakes.number(), &count, sizeof count)); // it does not block
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
    m_wakes = os::private_descriptor([] { return ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); });
    return m_wakes.is_open() ? m_events.add(m_wakes.number(), EPOLLIN, &m_wakes) : errno;
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
    m_wakes.close();
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

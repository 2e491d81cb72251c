// SPDX-License-Identifier: Apache-2.0
// Life, progress and sending. What arrives: deliver.cpp; large payloads: payloads.cpp.
#include "messenger/endpoint.hpp"

#include "base/error.hpp"
#include "os/clock.hpp"
#include "os/machine.hpp"
#include "os/thread.hpp"
#include "sched/worker.hpp"

#include <tulle/this_thread.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include <pthread.h>

namespace tulle::messenger {

namespace {

constexpr std::uint64_t k_retry_ns = 100'000;        // for room, while messages are kept
constexpr std::uint64_t k_kept_watch_ns = 1'000'000; // without a poll by its worker
constexpr std::uint64_t k_end_patience_ns = 1'000'000'000;
constexpr std::size_t k_most_kept = 1024; // then threads that send wait

std::atomic<endpoint*> s_endpoint{nullptr};
thread_local constinit bool s_delivers = false; // this OS thread runs handlers

} // namespace

// Pairs with the next.
endpoint* endpoint_of_process() noexcept { return s_endpoint.load(std::memory_order_acquire); }
// Pairs with endpoint_of_process.
void set_endpoint_of_process(endpoint* e) noexcept {
    s_endpoint.store(e, std::memory_order_release);
}

bool endpoint::delivers() noexcept { return s_delivers; }

endpoint::endpoint(std::unique_ptr<net::transport> over, rank memory_places)
    : m_transport(std::move(over)),
      m_here(m_transport->here()),
      m_count(m_transport->count()),
      m_workplaces(m_count - memory_places),
      m_deaths(std::make_unique<death[]>(m_count)) {
    if (m_transport->most_bytes() < k_least_bytes)
        throw std::invalid_argument("tulle: messages of " +
                                    std::to_string(m_transport->most_bytes()) +
                                    " bytes are too small");
    for (rank r = 0; r < count(); ++r) m_out.push_back(std::make_unique<outbox>());
    enter_handlers();
}

void endpoint::refuse_thread(rank place) const {
    base::throw_error(
        EOPNOTSUPP,
        ("tulle: place " + std::to_string(place) +
         " has memory and runs no threads (memory_places): use its memory from where the thread "
         "is, or start it at one of the places 0 to " +
         std::to_string(m_workplaces - 1))
            .c_str());
}

std::size_t endpoint::most_active() const noexcept {
    constexpr std::size_t k_aligned = 16;
    std::size_t most = 0;
    for (rank r = 0; r < count(); ++r) most = std::max(most, m_transport->most_bytes_to(r));
    return (most + k_aligned - 1) / k_aligned * k_aligned;
}

void endpoint::start() {
    constexpr char const* k_name = "tulle-service";
    {
        os::signals_blocked const handlers_are_for_other_threads;
        m_service = std::thread([this] {
            os::set_name(k_name);
            pin_service(pthread_self());
            polls_always() ? poll_always() : service();
        });
    }
    // Both by both, so that it is done before a message comes and before this returns.
    static_cast<void>(::pthread_setname_np(m_service.native_handle(), k_name));
    pin_service(m_service.native_handle());
}

// Pins the service thread.
void endpoint::pin_service(pthread_t thread) const noexcept {
    // A refusal does no harm.
    if (polls_always()) static_cast<void>(os::pin_to(thread, {&m_reserved_cpu, 1}));
}

void endpoint::stop() noexcept {
    wait_for_threads();
    stop_service();
    wait_for_threads(); // that the last poll has started
}

void endpoint::wait_for_threads() const noexcept {
    // Pairs with end_use.
    while (m_running.load(std::memory_order_acquire) != 0) this_thread::yield();
}

// --- progress ------------------------------------------------------------------------------------

// Workers call this.
bool endpoint::poll() noexcept {
    // relaxed: the service thread compares; what it may miss, it polls for itself.
    m_rounds.store(m_rounds.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    if (!polls_always() && try_poll()) return true;
    m_traffic.found_nothing();
    return false;
}

bool endpoint::poll_between() noexcept {
    m_traffic.found_nothing();
    return !polls_always() && try_poll();
}

bool endpoint::try_poll() noexcept {
    std::unique_lock const held(m_polling, std::try_to_lock);
    return held && poll_alone();
}

// The caller holds m_polling.
bool endpoint::poll_alone() noexcept {
    if (waiting_to_leave() != 0) send_what_was_kept();
    sched::worker* const w = sched::this_worker(); // the same afterwards: handlers do not wait
    s_delivers = true;
    if (w != nullptr) w->delivers = true;
    bool const found = m_transport->poll(*this);
    if (w != nullptr) w->delivers = false;
    s_delivers = false;
    m_traffic.polled(found);
    return found;
}

void endpoint::expect_by_messages(std::uint64_t barrier) noexcept {
    std::lock_guard const held(m_polling);
    if (barrier > m_barriers) m_traffic.have_come(barrier - m_barriers);
    m_barriers = barrier;
}

// Called before a sleep: waits for the thread that polls at this moment, which may have passed by a
// message already.
bool endpoint::poll_in_turn() noexcept {
    std::lock_guard const held(m_polling);
    return poll_alone();
}

// A worker that goes on with a thread for a moment and then polls again needs no doorbell
// meanwhile: it would cost each message that comes in between a system call, and a thread that
// wakes up for nothing. So its watch is kept, and the service thread checks from time to time
// whether the worker has come back. That is done only where messages come densely, since it takes
// processor time.
void endpoint::end_watch(bool has_work) noexcept {
    if (m_idle_work != nullptr) has_work ? m_idle_work->wake_up() : m_idle_work->rest();
    if (polls_always()) return;
    // relaxed: a hint, which the exchange settles
    if (has_work && !m_watch_is_kept.load(std::memory_order_relaxed) && m_traffic.is_dense() &&
        !m_watch_is_kept.exchange(true, std::memory_order_acq_rel))
        return m_transport->wake();
    leave_watch();
    if (!has_work) leave_kept_watch();
}

void endpoint::leave_kept_watch() noexcept {
    if (m_watch_is_kept.exchange(false, std::memory_order_acq_rel)) leave_watch();
}

// The thread that polls at this moment may have passed by a message already whose sender has seen
// this watch. tests/model/doorbell_test.cpp has the rule.
void endpoint::leave_watch() noexcept {
    if (!m_watchers.leave()) return;
    m_transport->end_watch();
    std::unique_lock const held(m_polling, std::try_to_lock);
    if (held)
        static_cast<void>(poll_alone());
    else
        m_transport->wake();
}

void endpoint::service() noexcept {
    while (!m_stopping.load(std::memory_order_acquire)) {      // pairs with stop_service
        if (m_watch_is_kept.load(std::memory_order_acquire)) { // pairs with end_watch
            supervise();
            continue;
        }
        if (try_poll()) continue;
        m_transport->arm();
        // acquire: pairs with stop_service, and with end_watch
        if (poll_in_turn() || m_stopping.load(std::memory_order_acquire) ||
            m_watch_is_kept.load(std::memory_order_acquire))
            continue;
        m_transport->sleep(waiting_to_leave() != 0 ? os::monotonic_ns() + k_retry_ns
                                                   : os::k_no_deadline);
    }
}

// Runs on a CPU of its own; places of one host may have the same one.
void endpoint::poll_always() noexcept {
    m_transport->begin_watch();
    while (!m_stopping.load(std::memory_order_acquire)) // pairs with stop_service
        if (!try_poll()) os::machine::yield_processor();
    m_transport->end_watch();
}

// A watch that is kept ends when no worker has polled for a while.
void endpoint::supervise() noexcept {
    std::uint64_t const before = m_rounds.load(std::memory_order_relaxed); // relaxed: see poll
    m_transport->arm();
    // acquire, both: pairs with stop_service and leave_kept_watch
    if (m_stopping.load(std::memory_order_acquire) ||
        !m_watch_is_kept.load(std::memory_order_acquire))
        return;
    m_transport->sleep(os::monotonic_ns() + k_kept_watch_ns);
    if (m_rounds.load(std::memory_order_relaxed) != before) return; // relaxed: as above
    if (m_watch_is_kept.exchange(false, std::memory_order_acq_rel) && m_watchers.leave())
        m_transport->end_watch(); // service() polls once more
}

void endpoint::tell_end(bool may_give_up) noexcept {
    m_ended_by.store(os::thread_id(), std::memory_order_relaxed); // relaxed: see has_ended
    for (rank r = 0; r < count(); ++r)
        if (r != here()) send(r, {message_kind::end}, {}, nullptr);
    std::uint64_t const patience_ends = os::monotonic_ns() + k_end_patience_ns;
    while (waiting_to_leave() != 0) {
        bool const is_found = poll();
        if (os::monotonic_ns() < patience_ends) continue;
        if (may_give_up) return;
        if (!is_found) std::this_thread::sleep_for(std::chrono::nanoseconds(k_retry_ns));
    }
}

void endpoint::stop_service() noexcept {
    m_stopping.store(true, std::memory_order_release); // pairs with service
    m_transport->wake();
    if (m_service.joinable()) m_service.join();
}

// relaxed: see has_ended
bool endpoint::has_ended_by_caller() const noexcept {
    return m_ended_by.load(std::memory_order_relaxed) == os::thread_id();
}

void endpoint::close() noexcept {
    m_ended_by.store(os::thread_id(), std::memory_order_relaxed); // relaxed: see has_ended
    stop_service();
    std::lock_guard const held(m_polling);
    m_transport->close();
}

// --- sending -------------------------------------------------------------------------------------

void endpoint::send(rank to, message_tag tag, packet head, std::byte const* payload,
                    awaited* answer) noexcept {
    head.kind = tag.encode();
    {
        outbox& out = *m_out[to];
        std::unique_lock held(out.lock);
        if (TULLE_UNLIKELY(out.is_closed)) {
            held.unlock();
            return drop(tag, payload, answer);
        }
        if (m_survives && answer != nullptr) out.answers.push_front(*answer);
        if (out.waiting.empty() && m_transport->try_send(to, head, payload)) return;
        keep(to, head, payload);
    }
    m_transport->wake();
}

void endpoint::cross_off(rank from, awaited& answer) noexcept {
    if (!m_survives) return;
    std::lock_guard const held(m_out[from]->lock);
    m_out[from]->answers.remove(answer);
}

// The caller holds the outbox's lock.
void endpoint::keep(rank to, packet const& head, std::byte const* payload) noexcept try {
    m_out[to]->waiting.push_back({head, std::vector<std::byte>(payload, payload + head.size)});
    // relaxed: a hint; a worker that is woken reads it after the wake-up
    m_waiting_count.fetch_add(1, std::memory_order_relaxed);
} catch (std::bad_alloc const&) {
    base::fatal(
        "no memory for a message of %u bytes to place %u, which does not take any at the moment",
        head.size, to);
}

void endpoint::send_what_was_kept() noexcept {
    for (rank r = 0; r < count(); ++r) {
        outbox& out = *m_out[r];
        std::lock_guard const held(out.lock);
        for (; !out.waiting.empty(); out.waiting.pop_front()) {
            kept_message const& oldest = out.waiting.front();
            if (!m_transport->try_send(r, oldest.head, oldest.payload.data())) break;
            m_waiting_count.fetch_sub(1, std::memory_order_relaxed); // relaxed: as above
        }
    }
}

// Handlers send, too; they must not wait for what only they can do.
void endpoint::let_others_catch_up() noexcept {
    if (s_delivers) return;
    while (waiting_to_leave() > k_most_kept) {
        static_cast<void>(poll());
        this_thread::yield();
    }
}

} // namespace tulle::messenger

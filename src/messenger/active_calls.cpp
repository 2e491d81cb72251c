// SPDX-License-Identifier: Apache-2.0
#include "messenger/active_calls.hpp"

#include "base/error.hpp"
#include "messenger/calls.hpp"
#include "messenger/image.hpp"
#include "os/clock.hpp"
#include "os/machine.hpp"
#include "sched/parking.hpp"
#include "sched/scheduler.hpp"
#include "sched/worker.hpp"

#include <tulle/this_thread.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>

namespace tulle::messenger {

namespace {

// More than an answer takes from a place that is polling.
constexpr unsigned k_polls_before_sleep = 200;
constexpr unsigned k_polls_between_sleeps = 20;
constexpr std::uint64_t k_first_sleep_ns = 50'000;
constexpr std::uint64_t k_longest_sleep_ns = 10'000'000;

// `answered`: the address of what waits for the answer, 0: nothing does.
packet head_of(detail::active_function f, std::uint64_t answered,
               std::span<std::byte const> request) noexcept {
    packet head;
    head.handler = name_of(reinterpret_cast<void const*>(f));
    head.a = answered;
    head.size = static_cast<std::uint32_t>(request.size());
    return head;
}

} // namespace

bool may_let_others_run() noexcept {
    sched::worker const* const w = sched::this_worker();
    // relaxed: its own
    return w != nullptr && !w->is_guest() && !w->rest.is_set() && !endpoint::delivers() &&
           !w->owner->shortage().may_run_on_top_of_wait(*w);
}

bool let_ready_threads_run() noexcept {
    if (!may_let_others_run()) return false;
    this_thread::yield();
    return sched::parking::has_ready_threads();
}

// --- asking --------------------------------------------------------------------------------------

active_calls::one::one() noexcept
    : awaited([](awaited& self) noexcept {
          auto& lost = static_cast<one&>(self);
          // relaxed: end() orders
          lost.all->m_has_died.store(true, std::memory_order_relaxed);
          lost.all->end(lost);
      }) {}

active_calls::active_calls(endpoint& from, waits_by how,
                           std::atomic<std::uint32_t>* to_come) noexcept
    : m_from(from),
      m_to_come(to_come),
      m_is_suspended(how == waits_by::letting_others_run && may_let_others_run()) {
    for (one& each : m_calls) each.all = this;
}

std::size_t active_calls::most_bytes() const noexcept { return m_from.most_bytes(); }

// Not of what a death ends. release: pairs with whoever looks.
void active_calls::take_one() noexcept {
    if (m_to_come != nullptr) m_to_come->fetch_sub(1, std::memory_order_release);
}

// What is done for it happens before wait() returns. It is gone when the last one has ended.
void active_calls::end(one& answered) noexcept {
    bool const is_suspended = m_is_suspended;                 // it may be gone below
    answered.is_open.store(false, std::memory_order_release); // pairs with find_free
    m_open.take_one();
    if (is_suspended) m_answers.notify();
}

active_calls::one* active_calls::find_free() noexcept {
    for (one& each : m_calls)
        if (!each.is_open.load(std::memory_order_acquire)) return &each; // pairs with end
    return nullptr;
}

bool active_calls::pause() noexcept {
    bool const any = m_from.poll_between();
    os::machine::pause();
    return any;
}

// While it sleeps the service thread takes the messages. A thread that went on polling would take
// the processor from those that the answer needs, and a yield is no help beside threads that
// compute: each costs the caller a turn of theirs, while a thread that is woken runs soon. The
// sleeps grow, and it polls between them: there may be no service thread, and where the network
// wakes nobody that one may sleep longer than an answer takes.
template <class Done, class Sleep> void active_calls::poll_until(Done done, Sleep sleep) noexcept {
    std::uint64_t nap = k_first_sleep_ns;
    for (unsigned turn = 0; !done();) {
        if (turn != k_polls_before_sleep) {
            turn = pause() ? 0 : turn + 1;
            continue;
        }
        m_from.leave_kept_watch();
        sleep(os::monotonic_ns() + nap);
        nap = std::min(2 * nap, k_longest_sleep_ns);
        turn -= k_polls_between_sleeps;
    }
}

void active_calls::ask(rank to, detail::active_function f, std::span<std::byte const> request,
                       std::span<std::byte> answer) noexcept {
    one* free = nullptr;
    poll_until([&] { return (free = find_free()) != nullptr; },
               [this](std::uint64_t until) { m_open.sleep_for_room(until); });
    free->answer = answer;
    free->is_open.store(true, std::memory_order_relaxed); // relaxed: sending orders
    if (m_is_suspended) m_answers.add_signalers(1);
    m_open.add();
    packet const head = head_of(f, reinterpret_cast<std::uintptr_t>(free), request);
    m_from.send(to, {message_kind::active}, head, request.data(), free);
}

bool active_calls::wait() noexcept {
    if (m_is_suspended) m_answers.wait();
    poll_until([this] { return m_open.none_is_open(); },
               [this](std::uint64_t until) { m_open.sleep_for_all(until); });
    return !m_has_died.load(std::memory_order_relaxed); // relaxed: before the above
}

void endpoint::tell(rank to, detail::active_function f, std::span<std::byte const> told) noexcept {
    send(to, {message_kind::active}, head_of(f, 0, told), told.data());
}

// --- serving; the polling thread -----------------------------------------------------------------

void endpoint::take_active(packet const& head, std::byte const* payload) noexcept try {
    auto const function = reinterpret_cast<detail::active_function>(
        code_of(head.handler)); // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast)
    if (function == nullptr)
        base::fatal("place %u asks for code that this place does not have: is the same library "
                    "loaded at both?",
                    static_cast<unsigned>(head.from));
    if (m_active_room == nullptr) m_active_room = std::make_unique<std::byte[]>(2 * most_active());
    std::byte* const request = m_active_room.get();
    std::byte* const answer = request + most_active();
    if (head.size != 0) std::memcpy(request, payload, head.size);
    packet back;
    back.a = head.a;
    back.size = static_cast<std::uint32_t>(
        function(static_cast<int>(head.from), {request, head.size}, answer));
    if (head.a == 0) return; // nobody waits
    send(head.from, {message_kind::active_answer}, back, answer);
} catch (std::bad_alloc const&) {
    no_memory_for(head);
}

void endpoint::take_active_answer(packet const& head, std::byte const* payload) noexcept {
    auto& answered = object_at<active_calls::one>(head.a);
    cross_off(head.from, answered);
    if (head.size != answered.answer.size())
        base::fatal("place %u answers with %u bytes, for %zu expected",
                    static_cast<unsigned>(head.from), head.size, answered.answer.size());
    if (head.size != 0) std::memcpy(answered.answer.data(), payload, head.size);
    answered.all->take_one();
    answered.all->end(answered);
}

} // namespace tulle::messenger

namespace tulle::detail {

using namespace messenger;

namespace {

// A process without an endpoint is place 0 of one. It may have had one, as the child of a fork has,
// or as a program has until it leaves: then `place` is of others, and what is asked about is not
// here.
bool is_here(endpoint const* of_process, int place) noexcept {
    return place == (of_process != nullptr ? static_cast<int>(of_process->here()) : 0);
}

} // namespace

bool request_at(int place, active_function f, std::span<std::byte const> request,
                std::span<std::byte> answer) noexcept {
    endpoint* const here = endpoint_of_process();
    if (is_here(here, place)) {
        f(place, request, answer.data());
        return true;
    }
    if (here == nullptr) return false;
    active_calls calls(*here);
    calls.ask(static_cast<rank>(place), f, request, answer);
    return calls.wait();
}

void tell_at(int place, active_function f, std::span<std::byte const> told) noexcept {
    endpoint* const here = endpoint_of_process();
    if (is_here(here, place)) {
        alignas(std::max_align_t) std::array<std::byte, k_most_active> answer;
        f(place, told, answer.data());
        return;
    }
    if (here != nullptr) here->tell(static_cast<rank>(place), f, told);
}

} // namespace tulle::detail

// SPDX-License-Identifier: Apache-2.0
#include "compat/parmacs/waiting.hpp"

#include "compat/parmacs/failure.hpp"
#include "compat/parmacs/home_calls.hpp"
#include "compat/parmacs/machines.hpp"
#include "compat/parmacs/race_order.hpp"

#include <tulle/c/global_memory.h>
#include <tulle/c/place.h>
#include <tulle/detail/machine.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <limits>
#include <mutex>
#include <utility>

#include <unistd.h>

namespace tulle::parmacs {

namespace {

constexpr std::size_t k_lines_at_once = 64;
constexpr std::uint64_t k_spin_ns = 2000;
// For a lock: about what it takes to put a process to sleep and to wake it by a message.
constexpr std::uint64_t k_lock_spin_ns = 20'000;
constexpr std::uint64_t k_first_rest_ns = 250; // between two looks at a lock; doubles
constexpr std::uint64_t k_longest_rest_ns = 4000;
constexpr std::uint64_t k_nap_ns = 10'000'000;
constexpr int k_pauses = 4;
constexpr int k_patience = 4; // of one that was told that a lock is free, and came too late

std::uint64_t now_ns() noexcept {
    constexpr std::uint64_t k_second_ns = 1'000'000'000;
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * k_second_ns +
           static_cast<std::uint64_t>(now.tv_nsec);
}

std::int64_t processors() noexcept {
    static std::int64_t const s_count = sysconf(_SC_NPROCESSORS_ONLN);
    return s_count;
}

// The time afterwards.
std::uint64_t rest_until(std::uint64_t time) noexcept {
    std::uint64_t now = 0;
    do {
        for (int k = 0; k < k_pauses; ++k) detail::native_machine::pause();
        now = now_ns();
    } while (now < time);
    return now;
}

// Of this process: lines that nobody has had, and waiters that nobody uses.
base::spin_lock s_lock; // guards the rest
std::byte* s_next_line = nullptr;
std::size_t s_lines = 0;
waiter* s_free = nullptr;

std::byte* take_line() noexcept {
    std::lock_guard const held(s_lock);
    if (s_lines == 0) return nullptr;
    --s_lines;
    return std::exchange(s_next_line, s_next_line + k_line);
}

// `memory` has one line more than are kept, as it need not begin with one. False: another thread
// was as quick.
bool keep_lines(std::byte* memory) noexcept {
    std::lock_guard const held(s_lock);
    if (s_lines != 0) return false;
    s_next_line = memory + (k_line - reinterpret_cast<std::uintptr_t>(memory) % k_line);
    s_lines = k_lines_at_once;
    return true;
}

// Of this place if there are other machines, so that all processes of this one reach it.
int make_zeros(void*& made, std::size_t bytes) noexcept {
    if (!spans_machines()) return tulle_global_calloc(&made, 1, bytes);
    int const error = tulle_global_malloc_at(&made, tulle_here(), bytes);
    if (error == 0) std::memset(made, 0, bytes);
    return error;
}

void take_more_lines() noexcept {
    void* const made = new_zeros((k_lines_at_once + 1) * k_line);
    if (!keep_lines(static_cast<std::byte*>(made))) static_cast<void>(tulle_global_free(made));
}

waiter* take_waiter() noexcept {
    {
        std::lock_guard const held(s_lock);
        if (s_free != nullptr) return std::exchange(s_free, s_free->next);
    }
    return new_shared<waiter>();
}

void give_back(waiter& w) noexcept {
    std::lock_guard const held(s_lock);
    w.next = std::exchange(s_free, &w);
}

void append(waiter*& first, waiter& w) noexcept {
    waiter** end = &first;
    while (*end != nullptr) end = &(*end)->next;
    *end = &w;
}

// By the caller.
void order_woken(waiter const* list) noexcept {
    for (; list != nullptr; list = list->next) hand_to(list->place);
}

void wake(waiter* list) noexcept {
    while (list != nullptr) {
        waiter* const next = list->next;
        tell(*list);
        list = next;
    }
}

// Those that a barrier has let go.
void wake_arrived(waiter* list) noexcept {
    while (list != nullptr) {
        auto* const after = static_cast<waiter*>(list->after.load());
        tell(*list);
        list = after;
    }
}

} // namespace

void* new_zeros(std::size_t bytes) noexcept {
    void* made = nullptr;
    int const error = make_zeros(made, bytes);
    if (error == -ENOMEM)
        fail("no global memory is left for locks, barriers and events: set TULLE_GLOBAL_MEMORY");
    if (error != 0) fail("no global memory: %s", std::strerror(-error));
    return made;
}

void tell(waiter& one) noexcept {
    int const place = one.place;
    if (int const error = tulle_signal_notify_at(place, one.signal))
        fail("process %d cannot be woken: %s", place, std::strerror(-error));
}

void* new_line() noexcept {
    std::byte* found = nullptr;
    while ((found = take_line()) == nullptr) take_more_lines();
    return found;
}

wait_entry::wait_entry(wish what, std::int64_t amount) noexcept
    : m_waiter(take_waiter()), m_signal(TULLE_SIGNAL_INIT(1)) {
    m_waiter->next = nullptr;
    m_waiter->signal = &m_signal;
    m_waiter->place = tulle_here();
    m_waiter->what = what;
    m_waiter->amount = amount;
}
wait_entry::~wait_entry() { give_back(*m_waiter); }

void wait_entry::wait() noexcept { wait_on(m_signal); }

bool shared_value::grant(wish what, std::int64_t amount) noexcept {
    switch (what) {
        case wish::set_already: return m_value != 0;
        case wish::to_clear: return m_value != 0 && std::exchange(m_value, 0) != 0;
        case wish::to_set: return m_value == 0 && std::exchange(m_value, 1) == 0;
        case wish::to_take: break;
    }
    if (m_value < amount) return false;
    m_value -= amount;
    return true;
}

void shared_value::order_granted(wish what, int process) const noexcept {
    acquire_from(order_of(what != wish::to_set), process);
    if (what == wish::to_clear) replace_in(order_of(false), process);
    if (what == wish::to_set) replace_in(order_of(true), process);
}

// Off the list, in the order in which they came. Each may let one go on that came before it.
waiter* shared_value::take_granted() noexcept {
    waiter* granted = nullptr;
    waiter** end = &granted;
    for (waiter** at = &m_first; *at != nullptr;) {
        waiter& each = **at;
        if (!grant(each.what, each.amount)) {
            at = &each.next;
            continue;
        }
        order_granted(each.what, each.place);
        *at = std::exchange(each.next, nullptr);
        *end = &each;
        end = &each.next;
        at = &m_first;
    }
    return granted;
}

// Otherwise `own` is put on the list, if there is one.
bool shared_value::try_once(wish what, std::int64_t amount, waiter* own) noexcept {
    waiter* others = nullptr;
    {
        std::lock_guard const held(m_lock);
        if (!grant(what, amount)) {
            if (own != nullptr) append(m_first, *own);
            return false;
        }
        order_granted(what, tulle_here());
        others = take_granted();
    }
    wake(others);
    return true;
}

// Most locks are held for less time than a message takes.
void shared_value::wait(wish what, std::int64_t amount) noexcept {
    if (try_once(what, amount, nullptr)) return;
    std::uint64_t const end = now_ns() + k_spin_ns;
    do {
        for (int k = 0; k < k_pauses; ++k) detail::native_machine::pause();
        if (try_once(what, amount, nullptr)) return;
    } while (now_ns() < end);
    wait_entry own(what, amount);
    if (!try_once(what, amount, &own.get())) own.wait();
}

bool shared_value::change(std::int64_t to) noexcept {
    waiter* granted = nullptr;
    {
        std::lock_guard const held(m_lock);
        if (m_value == to) {
            release_to(order_of(to != 0));
            return false;
        }
        replace_in(order_of(to != 0), tulle_here());
        m_value = to;
        granted = take_granted();
    }
    wake(granted);
    return true;
}

void shared_value::add(std::int64_t amount) noexcept {
    waiter* granted = nullptr;
    {
        std::lock_guard const held(m_lock);
        release_to(order_of(true));
        m_value += amount;
        granted = take_granted();
    }
    wake(granted);
}

// Most locks are held for less time than a message takes. Each look takes the line from the one
// that holds the lock, and each lock that goes over takes along what it guards: so looks become
// rare, and one process has the lock several times in a row. Source of the idea: the locks with
// backoff by distance of Z. Radovic and E. Hagersten, "Efficient synchronization for nonuniform
// communication architectures", 2002.
void shared_lock::lock_later() noexcept {
    std::uint64_t now = now_ns();
    std::uint64_t const end = now + k_lock_spin_ns;
    for (std::uint64_t rest = k_first_rest_ns; now < end;
         rest = std::min(2 * rest, k_longest_rest_ns)) {
        now = rest_until(now + rest);
        if (!m_core.looks_held() && m_core.try_lock()) return;
    }
    for (int tries = 0;; ++tries) {
        wait_entry own;
        if (m_core.enter(own.get(), tries != 0, tries >= k_patience)) return;
        own.wait();
        if (own.get().is_granted.load()) return;
    }
}

bool shared_lock::unlock_and_tell() noexcept {
    auto const [was_held, to_tell] = m_core.unlock();
    if (to_tell != nullptr) tell(*static_cast<waiter*>(to_tell));
    return was_held;
}

void shared_condition::enter(waiter& own) noexcept {
    std::lock_guard const held(m_lock);
    append(m_first, own);
}

void shared_condition::wake_one() noexcept {
    waiter* first = nullptr;
    {
        std::lock_guard const held(m_lock);
        first = m_first;
        if (first != nullptr) m_first = std::exchange(first->next, nullptr);
    }
    order_woken(first);
    wake(first);
}

void shared_condition::wake_all() noexcept {
    waiter* all = nullptr;
    {
        std::lock_guard const held(m_lock);
        all = std::exchange(m_first, nullptr);
    }
    order_woken(all);
    wake(all);
}

// Where each of them may have a processor of its own, most come at about the same time.
bool shared_barrier::is_over_soon(std::uint32_t round) const noexcept {
    std::uint64_t const end = now_ns() + k_spin_ns;
    do {
        for (int k = 0; k < k_pauses; ++k) detail::native_machine::pause();
        if (m_core.is_over(round)) return true;
    } while (now_ns() < end);
    return false;
}

// Where they share processors. Most processes have one thread, which the kernel wakes in half the
// time that it takes to tell their place. Not for long: the worker can do nothing else meanwhile,
// and no report would say who waits. The fences of both sides: the last one sees that somebody
// naps, or the kernel that the round is over.
bool shared_barrier::is_over_after_nap(std::uint32_t round) noexcept {
    m_nappers.fetch_add(1, std::memory_order_seq_cst);
    static_cast<void>(os::shared_futex_wait(m_core.word(), round, now_ns() + k_nap_ns));
    m_nappers.fetch_sub(1, std::memory_order_relaxed); // relaxed: one too many does no harm
    return m_core.is_over(round);
}
void shared_barrier::wake_nappers() noexcept {
    os::machine::fence_seq_cst();
    if (m_nappers.load(std::memory_order_relaxed) == 0) return; // relaxed: behind the fence
    os::shared_futex_wake(m_core.word(), std::numeric_limits<int>::max());
}

void shared_barrier::wait(std::int64_t processes) noexcept {
    std::uint32_t const round = arrive_and_wait(processes);
    acquire_from(order_of(round));
}

// Returns the round, which is over.
std::uint32_t shared_barrier::arrive_and_wait(std::int64_t processes) noexcept {
    auto const [is_last, to_tell, round] =
        m_core.arrive(processes, [this](std::uint32_t begun) { release_to(order_of(begun)); });
    if (is_last) {
        wake_nappers();
        wake_arrived(to_tell);
        return round;
    }
    bool const have_processors = processes <= processors();
    if (have_processors ? is_over_soon(round) : is_over_after_nap(round)) return round;
    wait_entry own;
    if (m_core.enter(round, own.get())) own.wait();
    return round;
}

bool shared_barrier::enter(std::int64_t processes, waiter& own) noexcept {
    auto const [is_last, to_tell, round] = m_core.arrive(processes);
    if (is_last) {
        wake_nappers();
        wake_arrived(to_tell);
    }
    return is_last || !m_core.enter(round, own);
}

} // namespace tulle::parmacs

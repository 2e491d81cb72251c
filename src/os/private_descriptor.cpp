// SPDX-License-Identifier: Apache-2.0
#include "os/private_descriptor.hpp"

#include "base/kept_errno.hpp"
#include "os/thread.hpp"

#include <tulle/detail/machine.hpp>
#include <tulle/detail/spin_wait.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace tulle::os {

constinit std::atomic<int> private_descriptor::s_lowest{INT_MAX};

namespace {

constexpr unsigned k_bits = 64;
constexpr unsigned k_most = 1U << 16U; // higher ones are taken for the program's
constexpr int k_changes = INT_MIN;     // of s_lowest: one is being opened or closed

using spin_wait = detail::spin_wait<detail::native_machine>;

// A bit for each number.
constinit std::array<std::atomic<std::uint64_t>, k_most / k_bits> s_ones{};
constinit std::atomic<int> s_base{0};         // they are moved there, or above
constinit std::atomic<unsigned> s_process{0}; // see m_process

// The process that has the turn; 0: none has. A process that was forked without the handlers of
// forks (_Fork, clone) while its parent had it takes it, as it has one OS thread.
constinit std::atomic<int> s_holder{0};

void lock() noexcept {
    int const own = ::getpid();
    spin_wait wait;
    // acquire pairs with unlock; relaxed: tried again.
    for (int held = 0; !s_holder.compare_exchange_weak(held, own, std::memory_order_acquire,
                                                       std::memory_order_relaxed);) {
        if (held != own) continue;
        wait.step();
        held = 0;
    }
}

void unlock() noexcept { s_holder.store(0, std::memory_order_release); } // pairs with lock

// relaxed, both: s_lowest orders them.
void set(int number, bool is_one) noexcept {
    auto const at = static_cast<unsigned>(number);
    if (number < 0 || at >= k_most) return;
    std::uint64_t const bit = std::uint64_t{1} << at % k_bits;
    if (is_one)
        s_ones[at / k_bits].fetch_or(bit, std::memory_order_relaxed);
    else
        s_ones[at / k_bits].fetch_and(~bit, std::memory_order_relaxed);
}

bool is_set(int number) noexcept {
    auto const at = static_cast<unsigned>(number);
    if (number < 0 || at >= k_most) return false;
    // relaxed: as in set.
    return (s_ones[at / k_bits].load(std::memory_order_relaxed) >> at % k_bits & 1U) != 0;
}

// In a change.
void close_and_forget(int number) noexcept {
    ::close(number);
    set(number, false);
}

// In a change.
int moved_up(int opened) noexcept {
    set(opened, true);
    int const base = s_base.load(std::memory_order_relaxed); // relaxed: set at the start
    if (opened < 0 || opened >= base) return opened;
    base::kept_errno const kept;
    int const moved = ::fcntl(opened, F_DUPFD_CLOEXEC, base);
    if (moved < 0) return opened; // it is as good where it is
    set(moved, true);
    close_and_forget(opened);
    return moved;
}

} // namespace

// --- turns ---------------------------------------------------------------------------------------

private_descriptor::turn::turn() noexcept : m_before(block_signals()) { lock(); }

private_descriptor::turn::~turn() {
    unlock();
    ::pthread_sigmask(SIG_SETMASK, &m_before, nullptr);
}

// release: who sees it sees that somebody has the turn (is_one_cold).
private_descriptor::change::change() noexcept {
    s_lowest.store(k_changes, std::memory_order_release);
}

// release pairs with is_one_cold: what has been set and closed.
private_descriptor::change::~change() {
    unsigned const lowest = next_from(0);
    s_lowest.store(lowest == k_none ? INT_MAX : static_cast<int>(lowest),
                   std::memory_order_release);
}

// --- one -----------------------------------------------------------------------------------------

// relaxed: a fork changes it, when there is one OS thread.
void private_descriptor::take(int opened) noexcept {
    m_number = moved_up(opened);
    m_process = s_process.load(std::memory_order_relaxed);
}

private_descriptor::private_descriptor(private_descriptor&& other) noexcept
    : m_number(std::exchange(other.m_number, -1)), m_process(other.m_process) {}

private_descriptor& private_descriptor::operator=(private_descriptor&& other) noexcept {
    if (this == &other) return *this;
    close();
    m_number = std::exchange(other.m_number, -1);
    m_process = other.m_process;
    return *this;
}

void private_descriptor::close() noexcept {
    int const number = std::exchange(m_number, -1);
    if (number < 0) return;
    base::kept_errno const kept;
    change const now;
    // Else forget_all has closed it. relaxed: as in take.
    if (m_process == s_process.load(std::memory_order_relaxed)) close_and_forget(number);
}

// --- all -----------------------------------------------------------------------------------------

// The last sixteenth of the numbers that select(2) knows, or of fewer if the program may have no
// more. One is made there and closed, which enlarges the table.
void private_descriptor::lie_high() noexcept {
    constexpr rlim_t k_of_select = 1024, k_part = 16;
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    rlim_t const numbers = std::min(limit.rlim_cur, k_of_select);
    // relaxed: a change orders it, and earlier ones lie where they lie.
    s_base.store(static_cast<int>(numbers - numbers / k_part), std::memory_order_relaxed);
    private_descriptor const first([] { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); });
}

bool private_descriptor::is_one_cold(int number) noexcept {
    spin_wait wait;
    // acquire, both: they pair with change. A turn that the parent of this process had never ends.
    while (s_lowest.load(std::memory_order_acquire) == k_changes &&
           s_holder.load(std::memory_order_acquire) == ::getpid())
        wait.step();
    return is_set(number);
}

unsigned private_descriptor::next_from(unsigned first) noexcept {
    for (unsigned at = first; at < k_most; at = (at / k_bits + 1) * k_bits) {
        // relaxed: as in set.
        std::uint64_t const word =
            s_ones[at / k_bits].load(std::memory_order_relaxed) >> at % k_bits;
        if (word != 0) return at + static_cast<unsigned>(std::countr_zero(word));
    }
    return k_none;
}

void private_descriptor::lock_for_process_fork() noexcept { lock(); }
void private_descriptor::unlock_after_process_fork() noexcept { unlock(); }

void private_descriptor::forget_all() noexcept {
    change const now;
    s_process.fetch_add(1, std::memory_order_relaxed); // relaxed: there is one OS thread
    for (unsigned own = next_from(0); own != k_none; own = next_from(own))
        close_and_forget(static_cast<int>(own));
}

} // namespace tulle::os

// SPDX-License-Identifier: Apache-2.0
#include "os/private_descriptor.hpp"

#include "base/kept_errno.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace tulle::os {

namespace {

constexpr unsigned k_bits = 64;
constexpr unsigned k_most = 1U << 16U; // higher ones are taken for the program's

// A bit for each number.
constinit std::array<std::atomic<std::uint64_t>, k_most / k_bits> s_ones{};
constinit std::atomic<int> s_lowest{0};

// relaxed, all: who asks for a number that is being made or closed meanwhile may be told either.
void set(int number, bool is_one) noexcept {
    auto const at = static_cast<unsigned>(number);
    if (number < 0 || at >= k_most) return;
    std::uint64_t const bit = std::uint64_t{1} << at % k_bits;
    if (is_one)
        s_ones[at / k_bits].fetch_or(bit, std::memory_order_relaxed);
    else
        s_ones[at / k_bits].fetch_and(~bit, std::memory_order_relaxed);
}

// Not known any more first: a file that the program opens at once may have the number.
void forget_and_close(int number) noexcept {
    set(number, false);
    ::close(number);
}

int moved_up(int opened) noexcept {
    int const lowest = s_lowest.load(std::memory_order_relaxed); // relaxed: set at the start
    set(opened, true);
    if (opened < 0 || opened >= lowest) return opened;
    base::kept_errno const kept;
    int const moved = ::fcntl(opened, F_DUPFD_CLOEXEC, lowest);
    if (moved < 0) return opened; // it is as good where it is
    set(moved, true);
    forget_and_close(opened);
    return moved;
}

} // namespace

private_descriptor::private_descriptor(int opened) noexcept : m_number(moved_up(opened)) {}

private_descriptor::private_descriptor(private_descriptor&& other) noexcept
    : m_number(std::exchange(other.m_number, -1)) {}

private_descriptor& private_descriptor::operator=(private_descriptor&& other) noexcept {
    if (this == &other) return *this;
    close();
    m_number = std::exchange(other.m_number, -1);
    return *this;
}

void private_descriptor::close() noexcept {
    if (m_number >= 0) forget_and_close(std::exchange(m_number, -1));
}

// The last sixteenth of the numbers that select(2) knows, or of fewer if the program may have no
// more. One is made there and closed, which enlarges the table.
void private_descriptor::lie_high() noexcept {
    constexpr rlim_t k_of_select = 1024, k_part = 16;
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    rlim_t const numbers = std::min(limit.rlim_cur, k_of_select);
    // relaxed: there is one OS thread.
    s_lowest.store(static_cast<int>(numbers - numbers / k_part), std::memory_order_relaxed);
    private_descriptor const first(::open("/dev/null", O_RDONLY | O_CLOEXEC));
}

bool private_descriptor::is_one(int number) noexcept {
    auto const at = static_cast<unsigned>(number);
    if (number < 0 || at >= k_most) return false;
    // relaxed: as in set.
    return (s_ones[at / k_bits].load(std::memory_order_relaxed) >> at % k_bits & 1U) != 0;
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

} // namespace tulle::os

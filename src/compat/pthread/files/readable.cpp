// SPDX-License-Identifier: Apache-2.0
#include "compat/pthread/files/readable.hpp"

#include "compat/pthread/c_library/libc.hpp"
#include "compat/pthread/threads/thread.hpp"
#include "os/memory.hpp"

#include <atomic>
#include <cerrno>
#include <cstdint>

#include <sys/syscall.h>
#include <tulle/detail/attributes.hpp>

namespace tulle::posix {

namespace {

// Pages that were there when the kernel was asked, each in the place of its number's last digits:
// to ask takes longer than half of a short message. What a program gives back it seldom names
// again; who does so may be ended by the fault, as by any read of its own.
constexpr std::size_t k_places = 256;
constinit std::atomic<std::uintptr_t> s_found[k_places]{}; // relaxed, all: a number

// The kernel reads a mask of signals before it looks at what is to be done with it, and refuses
// that, so that nothing changes. An aligned one lies in one page.
bool is_readable_here(std::uintptr_t address) noexcept {
    constexpr std::size_t k_bytes_of_mask = 8;
    constexpr int k_no_change = -1;
    long const done =
        TULLE_LIBC(syscall)(static_cast<long>(SYS_rt_sigprocmask), k_no_change,
                            address & ~(k_bytes_of_mask - 1), nullptr, k_bytes_of_mask);
    return done == 0 || errno != EFAULT;
}

bool is_page_readable(std::uintptr_t number) noexcept {
    std::atomic<std::uintptr_t>& place = s_found[number % k_places];
    if (TULLE_LIKELY(place.load(std::memory_order_relaxed) == number)) return true;
    if (!is_readable_here(number * os::page_size())) return false;
    place.store(number, std::memory_order_relaxed);
    return true;
}

// Most programs have what they name in the frames of the functions that call, which are there.
// relaxed: its own address.
bool is_on_own_stack(std::uintptr_t first, std::size_t bytes) noexcept {
    thread const* const t = self();
    if (t == nullptr) return false;
    auto const end = reinterpret_cast<std::uintptr_t>(t->stack_end.load(std::memory_order_relaxed));
    auto const frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    bool const is_there = frame < end && end - frame <= t->asked.stack_size; // not on another one
    return is_there && first >= frame && first <= end && bytes <= end - first;
}

} // namespace

bool is_readable(void const* memory, std::size_t bytes) noexcept {
    auto const first = reinterpret_cast<std::uintptr_t>(memory);
    if (bytes == 0) return true;
    if (bytes - 1 > UINTPTR_MAX - first) return false;
    if (TULLE_LIKELY(is_on_own_stack(first, bytes))) return true;
    kept_errno const kept;
    std::uintptr_t const page = os::page_size();
    std::uintptr_t const first_page = first / page, last_page = (first + bytes - 1) / page;
    if (first_page == 0) return false; // the kernel would take null for no mask
    for (std::uintptr_t number = first_page; number <= last_page; ++number)
        if (!is_page_readable(number)) return false;
    return true;
}

} // namespace tulle::posix

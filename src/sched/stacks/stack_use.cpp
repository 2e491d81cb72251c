// SPDX-License-Identifier: Apache-2.0
#include "sched/stacks/stack_use.hpp"

#include "base/rng.hpp"
#include "base/sanitize.hpp"
#include "os/memory.hpp"

#include <algorithm>
#include <mutex>

#include <sys/mman.h>

namespace tulle::sched {

namespace {

constexpr std::size_t k_pages_at_a_time = 64;

// [low, high) is in memory; words of it.
TULLE_NO_SANITIZE std::byte* lowest_used(std::byte* low, std::byte* high) noexcept {
    auto const* word = reinterpret_cast<std::uint64_t volatile const*>(low);
    auto const* const end = reinterpret_cast<std::uint64_t volatile const*>(high);
    while (word < end && *word == 0) ++word;
    return low + (reinterpret_cast<std::byte volatile const*>(word) - low);
}

TULLE_NO_SANITIZE void clear(std::byte* low, std::byte* high) noexcept {
    // volatile: not to become a call, whose frame would lie in what is cleared
    for (auto* word = reinterpret_cast<std::uint64_t volatile*>(low);
         word < reinterpret_cast<std::uint64_t volatile*>(high); ++word)
        *word = 0;
}

// The lowest word of [low, high) that is not zero, or `high`. Pages that are not in memory are not
// read, as that would bring them there.
std::byte* lowest_used_of(std::byte* low, std::byte* high) noexcept {
    std::size_t const page = os::page_size();
    unsigned char present[k_pages_at_a_time];
    // Compact stacks begin anywhere.
    std::byte* at = low - reinterpret_cast<std::uintptr_t>(low) % page;
    while (at < high) {
        std::size_t const pages =
            std::min(k_pages_at_a_time, (static_cast<std::size_t>(high - at) + page - 1) / page);
        bool const is_known = ::mincore(at, pages * page, present) == 0;
        for (std::size_t k = 0; k < pages; ++k, at += page) {
            if (is_known && (present[k] & 1U) == 0) continue;
            std::byte* const until = std::min(at + page, high);
            std::byte* const found = lowest_used(std::max(at, low), until);
            if (found != until) return found;
        }
    }
    return high;
}

} // namespace

void clear_unused(stack::span own) noexcept {
    constexpr std::size_t k_own_frames = 512; // of this function and what it calls
    auto* const here = static_cast<std::byte*>(__builtin_frame_address(0));
    std::byte* const high =
        here - std::min<std::size_t>(k_own_frames, static_cast<std::size_t>(here - own.low));
    std::byte* const aligned =
        high - reinterpret_cast<std::uintptr_t>(high) % sizeof(std::uint64_t);
    clear(lowest_used_of(own.low, aligned), aligned);
}

std::size_t used_bytes(stack::span own) noexcept {
    return static_cast<std::size_t>(own.end() - lowest_used_of(own.low, own.end()));
}

stack_use* stack_uses::find(stack_user const& user) noexcept {
    std::size_t const hash =
        base::mix(reinterpret_cast<std::uintptr_t>(user.site), user.stack_bytes) >> 32U;
    for (std::size_t k = 0; k < k_most_users; ++k) {
        stack_use& found = m_uses[(hash + k) % k_most_users];
        if (found.threads == 0) found.user = user;
        if (found.user == user) return &found;
    }
    return nullptr;
}

void stack_uses::add(stack_user const& user, std::size_t bytes) noexcept {
    std::lock_guard const held(m_lock);
    stack_use* const use = find(user);
    if (use == nullptr) {
        ++m_left_out;
        return;
    }
    ++use->threads;
    use->sum_of_bytes += bytes;
    use->most_bytes = std::max(use->most_bytes, bytes);
}

void stack_uses::visit(void (*visitor)(void* argument, stack_use const& seen),
                       void* argument) noexcept {
    std::lock_guard const held(m_lock);
    for (stack_use const& use : m_uses) {
        if (use.threads != 0) visitor(argument, use);
    }
}

std::uint64_t stack_uses::left_out() noexcept {
    std::lock_guard const held(m_lock);
    return m_left_out;
}

} // namespace tulle::sched

// SPDX-License-Identifier: Apache-2.0
#include "stack/guard.hpp"

#include <cerrno>

namespace tulle::stack {
namespace {

// A quarter of the mappings at most, for each guard cuts one mapping into up to three.
constexpr std::size_t k_mapping_share = 4;
constexpr std::size_t k_mappings_per_guard = 2;

guard_kind best_kind(guard_choice choice, os::memory_calls const& calls) noexcept {
    if (choice == guard_choice::none) {
        return guard_kind::canary;
    }
    bool const install = choice != guard_choice::mprotect && os::can_install_guards(calls);
    return install ? guard_kind::install : guard_kind::mprotect;
}

} // namespace

guard_policy::guard_policy(guard_choice choice, os::memory_calls const& calls,
                           std::size_t protect_limit) noexcept
    : m_calls(calls),
      m_kind(best_kind(choice, calls)),
      m_protect_left(protect_limit != 0 ? protect_limit : k_not_asked) {}

std::size_t guard_policy::apply(os::strided_range const& pages) noexcept {
    if (kind() == guard_kind::install) {
        if (m_calls.install_guards(pages)) {
            return pages.count;
        }
        m_kind.store(guard_kind::mprotect, std::memory_order_relaxed); // relaxed: see m_kind
    }
    return kind() == guard_kind::mprotect ? apply_mprotect(pages) : 0;
}

void guard_policy::ask_for_ration() noexcept {
    std::size_t expected = k_not_asked; // relaxed, both: as in take_ration
    if (m_protect_left.load(std::memory_order_relaxed) != expected) return;
    std::size_t const ration = os::mapping_limit() / k_mapping_share / k_mappings_per_guard;
    m_protect_left.compare_exchange_strong(expected, ration, std::memory_order_relaxed);
}

bool guard_policy::take_ration() noexcept {
    // relaxed: a count that guards no other data
    std::size_t left = m_protect_left.load(std::memory_order_relaxed);
    while (left > 0 &&
           !m_protect_left.compare_exchange_weak(left, left - 1, std::memory_order_relaxed)) {}
    return left > 0;
}

std::size_t guard_policy::apply_mprotect(os::strided_range const& pages) noexcept {
    int const kept = errno;
    std::size_t done = 0;
    ask_for_ration();
    while (done < pages.count && take_ration() &&
           m_calls.protect(pages.first + done * pages.stride, pages.bytes)) {
        ++done;
    }
    if (done < pages.count) {
        m_kind.store(guard_kind::canary, std::memory_order_relaxed); // relaxed: see m_kind
    }
    errno = kept;
    return done;
}

} // namespace tulle::stack

// SPDX-License-Identifier: Apache-2.0
// Guards of static variables of functions in coherent memory (tulle/coherent_abi.h). A guard is a
// word with the values below, of which compiled code reads the first byte, as the ABI of C++ says.
// Who finds k_is_made, there or here, has acquired what the constructor stored.
#include "dsm/coherent_host.hpp"
#include "dsm/compiled_scheme.hpp"

#include <tulle.h>
#include <tulle/coherent_abi.h>

#include <bit>
#include <cstdint>

namespace {

namespace dsm = tulle::dsm;

constexpr std::uint32_t k_is_new = 0;
constexpr std::uint32_t k_is_made = 1;
constexpr std::uint32_t k_is_being_made = 0x100;

std::uint64_t access(std::uint64_t const* guard, std::uint32_t value, std::uint32_t kind,
                     std::uint32_t order) noexcept {
    std::uint32_t const bytes = std::countr_zero(sizeof value);
    std::uint32_t const action = kind | bytes << TULLE_COHERENT_ATOMIC_SIZE_SHIFT |
                                 order << TULLE_COHERENT_ATOMIC_ORDER_SHIFT;
    auto const address = reinterpret_cast<std::uintptr_t>(guard);
    auto const how =
        dsm::s_compiled_scheme == dsm::scheme::races ? &tulle_race_atomic : &tulle_coherent_atomic;
    return how(address, value, k_is_new, action);
}

// Pairs with tulle_coherent_guard_acquire of all that come later.
void end(std::uint64_t const* guard, std::uint32_t value) noexcept {
    access(guard, value, TULLE_COHERENT_ATOMIC_STORE, __ATOMIC_RELEASE);
}

} // namespace

int tulle_coherent_guard_acquire(std::uint64_t* guard) {
    for (;; tulle_yield()) {
        std::uint64_t const before =
            access(guard, k_is_being_made, TULLE_COHERENT_ATOMIC_COMPARE, __ATOMIC_ACQUIRE);
        if (before == k_is_new) return 1;
        if (before == k_is_made) return 0;
    }
}
void tulle_coherent_guard_release(std::uint64_t* guard) { end(guard, k_is_made); }
void tulle_coherent_guard_abort(std::uint64_t* guard) { end(guard, k_is_new); }

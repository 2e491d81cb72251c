// SPDX-License-Identifier: Apache-2.0
#include "dsm/atomic_access.hpp"

#include <atomic>

#include <tulle/coherent_abi.h>

namespace tulle::dsm {

namespace {

constexpr std::uint32_t k_kind_bits = 0xFF;
constexpr std::uint32_t k_size_bits = 0xF;

// The order is the program's, who knows its partner; all are at most as strong as this one, and the
// path is a slow one.
constexpr std::memory_order k_strongest = std::memory_order_seq_cst;

template <typename Word>
std::uint64_t access(std::uint64_t address, std::uint64_t operand, std::uint64_t expected,
                     std::uint32_t kind) noexcept {
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    std::atomic_ref<Word> const word(*reinterpret_cast<Word*>(address));
    auto const value = static_cast<Word>(operand);
    auto wanted = static_cast<Word>(expected);
    switch (kind) {
        case TULLE_COHERENT_ATOMIC_LOAD: return word.load(k_strongest);
        case TULLE_COHERENT_ATOMIC_STORE: word.store(value, k_strongest); return 0;
        case TULLE_COHERENT_ATOMIC_SWAP: return word.exchange(value, k_strongest);
        case TULLE_COHERENT_ATOMIC_ADD: return word.fetch_add(value, k_strongest);
        case TULLE_COHERENT_ATOMIC_SUB: return word.fetch_sub(value, k_strongest);
        case TULLE_COHERENT_ATOMIC_AND: return word.fetch_and(value, k_strongest);
        case TULLE_COHERENT_ATOMIC_OR: return word.fetch_or(value, k_strongest);
        case TULLE_COHERENT_ATOMIC_XOR: return word.fetch_xor(value, k_strongest);
        default: word.compare_exchange_strong(wanted, value, k_strongest); return wanted;
    }
}

} // namespace

std::uint64_t access_atomically(std::uint64_t address, std::uint64_t operand,
                                std::uint64_t expected, std::uint32_t action) noexcept {
    std::uint32_t const kind = action & k_kind_bits;
    switch (action >> TULLE_COHERENT_ATOMIC_SIZE_SHIFT & k_size_bits) {
        case 0: return access<std::uint8_t>(address, operand, expected, kind);
        case 1: return access<std::uint16_t>(address, operand, expected, kind);
        case 2: return access<std::uint32_t>(address, operand, expected, kind);
        default: return access<std::uint64_t>(address, operand, expected, kind);
    }
}

} // namespace tulle::dsm

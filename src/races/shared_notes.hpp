// SPDX-License-Identifier: Apache-2.0
// What all processes share in which races are looked for: a file that each maps. Notes lie where
// they fall. Cells lie at addresses that follow from those of the memory that they are of, four
// times as far from the beginning of the range: two parts of it have some.
#pragma once

#include "races/blocks.hpp"
#include "races/granule.hpp"
#include "races/happens_before.hpp"
#include "races/sites.hpp"

#include "base/atomic.hpp"

#include <atomic>
#include <cstdint>

#include <tulle/coherent_abi.h>

namespace tulle::races {

using granule = basic_granule<base::machine>;

// Zero at first, which each part begins with.
struct notes {
    std::atomic<std::uint32_t> found;    // pairs of places
    std::atomic<std::uint32_t> told;     // of them
    std::atomic<std::uint32_t> pointers; // into private memory
    site_table sites;
    site_pairs pairs;
    block_list blocks;
};

inline constexpr std::uint64_t k_cell_bytes = sizeof(granule) / k_granule; // of one byte
inline constexpr std::uint64_t k_cells_at = TULLE_COHERENT_FIRST + TULLE_COHERENT_BYTES;

[[nodiscard]] constexpr std::uint64_t cells_of(std::uint64_t address) noexcept {
    return k_cells_at + (address - TULLE_COHERENT_FIRST) * k_cell_bytes;
}
[[nodiscard]] inline granule& granule_of(std::uint64_t address) noexcept {
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    return *reinterpret_cast<granule*>(cells_of(address / k_granule * k_granule));
}

// Of this process, for good.
class shared_notes {
public:
    // False: errno says why.
    [[nodiscard]] bool map(int descriptor, std::uint64_t memory_bytes,
                           process_number processes) noexcept;
    // Of the file.
    [[nodiscard]] static std::uint64_t bytes(std::uint64_t memory_bytes,
                                             process_number processes) noexcept;
    [[nodiscard]] notes& all() const noexcept { return *m_notes; }
    [[nodiscard]] std::byte* clocks() const noexcept {
        return reinterpret_cast<std::byte*>(m_notes + 1);
    }

private:
    notes* m_notes = nullptr;
};

// Memory that begins anew: nobody has used it.
void clear_cells(std::uint64_t address, std::uint64_t bytes) noexcept;

} // namespace tulle::races

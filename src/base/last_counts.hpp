// SPDX-License-Identifier: Apache-2.0
// What was counted last of each of many names: a guess of what will be, in little memory that never
// grows. Names share entries, and any thread may read and write at any time.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tulle::base {

class last_counts {
public:
    // 0: nothing is known.
    [[nodiscard]] std::uint64_t of(std::uint64_t name) const noexcept {
        return m_all[entry_of(name)].load(std::memory_order_relaxed); // relaxed: a guess
    }
    void note(std::uint64_t name, std::uint64_t count) noexcept {
        m_all[entry_of(name)].store(count, std::memory_order_relaxed); // relaxed: likewise
    }

private:
    static constexpr std::size_t k_entries = 64;
    static constexpr std::size_t entry_of(std::uint64_t name) noexcept { return name % k_entries; }

    std::array<std::atomic<std::uint64_t>, k_entries> m_all{};
};

} // namespace tulle::base

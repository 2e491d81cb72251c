// SPDX-License-Identifier: Apache-2.0
// Which blocks of shared memory there are, and where in the program they were allocated. In shared
// memory that is zero at first. Beyond the room there is a block is not known by name.
#pragma once

#include "base/spin_lock.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

namespace tulle::races {

struct block {
    std::uint64_t address;
    std::uint64_t bytes; // 0: it has been freed
    std::uint64_t pc;    // who has asked for it
};

class block_list {
public:
    void add(block const& made) noexcept {
        std::lock_guard const held(m_lock);
        block* const end = m_all.data() + m_count;
        block* const unused =
            m_free == 0
                ? end
                : std::find_if(m_all.data(), end, [](block const& b) { return b.bytes == 0; });
        if (unused != end)
            --m_free;
        else if (m_count == m_all.size())
            return;
        else
            ++m_count;
        *unused = made;
    }
    void remove(std::uint64_t address) noexcept {
        std::lock_guard const held(m_lock);
        block* const end = m_all.data() + m_count;
        block* const found = std::find_if(m_all.data(), end, [address](block const& b) {
            return b.address == address && b.bytes != 0;
        });
        if (found == end) return;
        found->bytes = 0;
        ++m_free;
    }
    [[nodiscard]] std::optional<block> find(std::uint64_t address) noexcept {
        std::lock_guard const held(m_lock);
        for (std::size_t k = 0; k < m_count; ++k)
            if (address - m_all[k].address < m_all[k].bytes) return m_all[k];
        return {};
    }

private:
    base::spin_lock m_lock; // guards the rest
    std::size_t m_count = 0;
    std::size_t m_free = 0; // of them
    std::array<block, std::size_t{1} << 16U> m_all;
};

} // namespace tulle::races

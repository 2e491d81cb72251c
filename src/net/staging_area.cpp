// SPDX-License-Identifier: Apache-2.0
#include "net/staging_area.hpp"

#include <mutex>

namespace tulle::net {

std::byte* staging_area::take(rank reader, std::size_t bytes) noexcept {
    if (bytes == 0 || bytes > m_runs.size() * k_block) return nullptr;
    auto const wanted = static_cast<std::uint32_t>((k_skew + bytes + k_block - 1) / k_block);
    std::lock_guard const held(m_lock);
    if (m_dead[reader]) return nullptr;
    for (std::size_t block = 0; block < m_runs.size(); block += m_runs[block].blocks) {
        run& here = m_runs[block];
        if (here.is_taken) continue;
        merge_free_runs(block);
        if (here.blocks < wanted) continue;
        if (here.blocks > wanted) m_runs[block + wanted] = {here.blocks - wanted, false};
        here = {wanted, true};
        return m_low + block * k_block + k_skew;
    }
    return nullptr;
}

// Merges a free run with the free ones that follow it.
void staging_area::merge_free_runs(std::size_t first) noexcept {
    run& here = m_runs[first];
    for (std::size_t next = first + here.blocks; next < m_runs.size() && !m_runs[next].is_taken;
         next = first + here.blocks)
        here.blocks += m_runs[next].blocks;
}

void staging_area::give_back(std::byte* taken) noexcept {
    std::lock_guard const held(m_lock);
    m_runs[static_cast<std::size_t>(taken - m_low) / k_block].is_taken = false;
}

void staging_area::lose(rank dead) noexcept {
    std::lock_guard const held(m_lock);
    m_dead[dead] = true;
}

bool staging_area::is_all_free() noexcept {
    std::lock_guard const held(m_lock);
    if (m_runs.empty() || m_runs[0].is_taken) return m_runs.empty();
    merge_free_runs(0);
    return m_runs[0].blocks == m_runs.size();
}

} // namespace tulle::net

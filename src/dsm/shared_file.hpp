// SPDX-License-Identifier: Apache-2.0
// What hosts of one machine share beside their copies, and where it lies in the file that all of
// them map: the copies themselves come last, so that each host reaches those of the others.
#pragma once

#include "base/atomic.hpp"
#include "dsm/geometry.hpp"
#include "dsm/line_range.hpp"
#include "dsm/protocol.hpp"
#include "dsm/range_log.hpp"
#include "dsm/used_chunks.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <tulle/coherent_abi.h>

namespace tulle::dsm {

static_assert(used_chunks::k_page_bytes % k_largest_unit == 0, "a unit has parts of its own");

template <std::size_t Notices, std::size_t Fetches> class basic_shared_file {
public:
    using notice_log = range_log<base::machine, Notices>;
    using fetch_log = range_log<base::machine, Fetches>;

    struct head {
        geometry chosen{};
        std::atomic<bool> is_shared{false}; // more than one host may use the memory
        std::atomic<std::uint32_t> chunks{0};
    };

    // With copies of so many hosts, and logs of all.
    basic_shared_file(geometry const& chosen, std::size_t copies) noexcept
        : m_chosen(chosen), m_count(copies) {}

    // Sizes and offsets in the file, in bytes.
    [[nodiscard]] std::uint64_t size() const noexcept {
        return copies() + m_count * m_chosen.bytes;
    }
    [[nodiscard]] std::uint64_t copies() const noexcept {
        return up_to_page(homes() + m_chosen.lines());
    }
    [[nodiscard]] std::uint64_t copy_of(std::size_t number) const noexcept {
        return copies() + number * m_chosen.bytes;
    }

    // In what lies in front of the copies, mapped at `low`.
    [[nodiscard]] static head& head_at(std::byte* low) noexcept {
        return *reinterpret_cast<head*>(low);
    }
    [[nodiscard]] notice_log& notices_at(std::byte* low, host_number writer) const noexcept {
        return reinterpret_cast<notice_log*>(low + notices())[writer];
    }
    [[nodiscard]] fetch_log& fetches_at(std::byte* low, host_number reader,
                                        host_number home) const noexcept {
        return reinterpret_cast<fetch_log*>(low + fetches())[reader * m_chosen.hosts + home];
    }
    [[nodiscard]] used_chunks chunks_at(std::byte* low) const noexcept {
        auto* const first = reinterpret_cast<used_chunks::shared_entry*>(low + chunks());
        return {head_at(low).chunks,
                {first, number_of_chunks()},
                m_chosen.first_line(),
                m_chosen.program_bytes};
    }
    [[nodiscard]] std::atomic<std::uint8_t>* homes_at(std::byte* low) const noexcept {
        return reinterpret_cast<std::atomic<std::uint8_t>*>(low + homes());
    }

private:
    static constexpr std::uint64_t k_page = 64 * 1024; // whatever its size is

    [[nodiscard]] static std::uint64_t up_to_page(std::uint64_t bytes) noexcept {
        return (bytes + k_page - 1) / k_page * k_page;
    }
    [[nodiscard]] std::uint64_t number_of_chunks() const noexcept {
        return used_chunks::count_of(m_chosen.bytes, m_chosen.program_bytes);
    }
    [[nodiscard]] static std::uint64_t notices() noexcept { return up_to_page(sizeof(head)); }
    [[nodiscard]] std::uint64_t fetches() const noexcept {
        return up_to_page(notices() + m_chosen.hosts * sizeof(notice_log));
    }
    [[nodiscard]] std::uint64_t chunks() const noexcept {
        return up_to_page(fetches() +
                          std::uint64_t{m_chosen.hosts} * m_chosen.hosts * sizeof(fetch_log));
    }
    [[nodiscard]] std::uint64_t homes() const noexcept {
        return up_to_page(chunks() + number_of_chunks() * sizeof(used_chunks::shared_entry));
    }

    geometry m_chosen;
    std::size_t m_count;
};

} // namespace tulle::dsm

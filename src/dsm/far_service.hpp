// SPDX-License-Identifier: Apache-2.0
// What a host does for hosts of other machines: it takes requests (far_request.hpp) and answers
// them, by what it shares with the hosts of its machine. Its program may compute meanwhile; so any
// thread may call this, but one at a time at a host.
#pragma once

#include "dsm/far_request.hpp"
#include "dsm/protocol.hpp"
#include "dsm/words.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tulle::dsm {

// Memory is a basic_host_memory.
template <class Memory> class far_service {
public:
    explicit far_service(Memory& memory) noexcept : m_memory(memory) {}

    // Request and answer begin at multiples of a word. Returns the size of the answer.
    std::size_t serve(host_number from, std::byte const* request, std::byte* answer) noexcept {
        auto const& head = *reinterpret_cast<far_head const*>(request);
        std::byte const* const rest = request + sizeof head;
        switch (head.what) {
            case far_operation::fetch:
                m_memory.serve_fetch(from, head.lines, answer);
                return head.lines.count * TULLE_COHERENT_LINE;
            case far_operation::claim: return claim(from, head.lines, answer);
            case far_operation::access:
                *reinterpret_cast<far_word*>(answer) =
                    m_memory.access_own(*reinterpret_cast<far_access const*>(rest));
                return sizeof(far_word);
            case far_operation::differences: write(rest, head.lines.count); break;
            case far_operation::release:
                take_notices(from, write(rest, head.lines.count), head.lines.first);
                break;
            case far_operation::notices: take_notices(from, rest, head.lines.count); break;
            case far_operation::chunks: m_memory.chunks().add(head.lines); break;
            case far_operation::put: m_memory.serve_put(head.lines, rest); break;
            case far_operation::share: m_memory.serve_share(); break;
        }
        return 0;
    }

private:
    std::size_t claim(host_number from, line_range lines, std::byte* answer) noexcept {
        std::size_t units = 0;
        for (line_number at = lines.first; at < lines.end(); ++units) {
            line_range const unit = m_memory.unit_of(at);
            answer[units] = std::byte{m_memory.claim_for(from, unit)};
            at = unit.end();
        }
        return units;
    }
    // Returns what follows the entries.
    std::byte const* write(std::byte const* entries, std::uint64_t count) noexcept {
        for (std::uint64_t n = 0; n < count; ++n) {
            auto const& found = *reinterpret_cast<far_difference const*>(entries);
            entries += sizeof found;
            std::byte* const line = m_memory.master_at(found.home, found.line);
            for (std::size_t k = 0; k < k_words_of_line; ++k) {
                if ((found.words >> k & 1U) == 0) continue;
                write_bytes(line + k * sizeof(far_word), entries, found.bytes[k]);
                entries += sizeof(far_word);
            }
        }
        return entries;
    }
    void take_notices(host_number from, std::byte const* entries, std::uint64_t count) noexcept {
        auto const* const told = reinterpret_cast<far_notice const*>(entries);
        for (std::uint64_t n = 0; n < count; ++n) m_memory.serve_notice(from, told[n]);
        m_memory.notices_of(from).publish();
    }

    Memory& m_memory;
};

} // namespace tulle::dsm

// SPDX-License-Identifier: Apache-2.0
// What one host does with memory of hosts that it shares none with: it asks them (far_request.hpp).
// One thread at a time, but for fetch_meanwhile.
#pragma once

#include "dsm/far_hosts.hpp"
#include "dsm/far_request.hpp"
#include "dsm/shared_file.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tulle::dsm {

// Where hosts are.
struct host_map {
    host_number here = 0;
    // Hosts of this machine, this one among them, and one of each other machine; machines agree
    // upon which.
    std::vector<host_number> near;
    std::vector<host_number> leaders;
    far_hosts* carrier = nullptr; // if there are others
};

class far_memory {
public:
    far_memory(geometry const& chosen, host_map const& hosts); // std::bad_alloc

    // --- asks one host, and waits
    // `to` has room for the bytes of the lines.
    void fetch(host_number home, line_range lines, std::byte* to) noexcept;
    // The same, by the end of end_fetches().
    void begin_fetch(host_number home, line_range lines, std::byte* to) noexcept;
    void end_fetches() noexcept;
    // The same while other threads of this process ask, and run; they may see by `answers_to_come`,
    // requests_for(lines) at first, when all of it is there (far_hosts::ask_beside).
    void fetch_meanwhile(host_number home, line_range lines, std::byte* to,
                         std::atomic<std::uint32_t>& answers_to_come) const noexcept;
    [[nodiscard]] std::uint32_t requests_for(line_range lines) const noexcept {
        std::uint64_t const most = lines_of_answer();
        return static_cast<std::uint32_t>((lines.count + most - 1) / most);
    }
    // Homes of units of one size from `first` on, as many as one answer has, `count` at most. Those
    // that nobody had are this host's now. Returns how many have been written to `homes`, one for
    // each unit.
    std::size_t claim(host_number keeper, line_range first, std::size_t count,
                      std::uint8_t* homes) noexcept;
    [[nodiscard]] std::uint64_t access(host_number home, far_access const& wanted) noexcept;

    // --- differences; they are in the masters after settle()
    // Of bytes of k_line_bits lines at most from their twins, which have them, too, if they go on.
    // Which lines have any.
    [[nodiscard]] line_bits add_differences(host_number home, line_range lines,
                                            std::byte const* now, std::byte* twins,
                                            twin_use use) noexcept;
    // With the notices, if all of it is one request: to release little takes one answer then.
    void settle() noexcept;

    // --- to all other machines
    void add_notice(line_range lines, std::uint8_t home) noexcept;
    void send_notices() noexcept; // and waits, as those do that follow
    void add_chunks(line_range lines) noexcept;
    void put(line_range lines, std::byte const* from) noexcept;
    void share() noexcept;

private:
    // A request that is being made.
    struct draft {
        std::vector<std::byte> bytes;
        std::size_t used = 0; // 0: nothing yet
    };

    void begin_fetch_by(far_hosts& carrier, host_number home, line_range lines,
                        std::byte* to) const noexcept;
    [[nodiscard]] std::uint64_t lines_of_answer() const noexcept {
        return room() / TULLE_COHERENT_LINE;
    }
    [[nodiscard]] std::size_t room() const noexcept { return m_notices.bytes.size(); }
    [[nodiscard]] static far_head& head_of(draft& d) noexcept {
        return *reinterpret_cast<far_head*>(d.bytes.data());
    }
    void begin(draft& d, far_operation what) noexcept;
    void append(draft& d, void const* from, std::size_t bytes) noexcept;
    void ask(host_number to, far_head const& head) noexcept;
    void send(host_number to, draft& d) noexcept;
    [[nodiscard]] bool release_at_once() noexcept;
    [[nodiscard]] bool add_line(host_number home, line_number line, std::byte const* now,
                                std::byte* twin, twin_use use) noexcept;

    geometry m_chosen;
    host_map m_hosts;
    far_hosts* m_carrier;
    std::vector<draft> m_differences; // by homes
    bool m_is_under_way = false;      // some of them
    draft m_notices, m_other;
};

} // namespace tulle::dsm

// SPDX-License-Identifier: Apache-2.0
// How a finish over places knows that nothing of it is left: the finish has a number for each place, the activities that were sent there less
// those that have arrived and told so. A place tells when no activity of the finish lives there any more, in one message: how many have
// arrived since it last told, and how many it has sent to whom. Numbers may be negative meanwhile, as messages overtake each other. When all are
// zero, and no activity lives at home, it is over: docs/protocols/finish.md.
// Both classes are plain data; their users lock. Model: tests/model/finish_test.cpp.
// Source: the vector counting of X10's finish (Tardieu and others, "X10 and APGAS at petascale", PPoPP 2014).
#pragma once

#include "net/packet.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tulle::remote {

using net::rank;

struct count_change {
    rank place;
    std::int32_t by;
};

// What a place tells.
using count_report = std::vector<count_change>;

// A place's share of the finish of another one, since it last told.
class finish_share {
public:
    // Throws std::bad_alloc. So nothing that follows does.
    explicit finish_share(rank places) : m_sent(places) {}

    [[nodiscard]] bool is_idle() const noexcept { return m_live == 0; }

    void begin() noexcept { ++m_live; } // an activity that was started here
    void arrive() noexcept {
        ++m_arrived;
        ++m_live;
    }
    void send(rank to) noexcept { ++m_sent[to]; }
    // True: it was the last one here, so report() is due.
    [[nodiscard]] bool end() noexcept { return --m_live == 0; }
    // What has arrived and needs no activity: it is over already.
    [[nodiscard]] bool arrive_and_end() noexcept {
        ++m_arrived;
        return m_live == 0;
    }
    // Throws std::bad_alloc, with nothing changed.
    [[nodiscard]] count_report report(rank here) {
        count_report told;
        for (rank r = 0; r < m_sent.size(); ++r) {
            std::int32_t const change = m_sent[r] - (r == here ? m_arrived : 0);
            if (change != 0) told.push_back({r, change});
        }
        m_sent.assign(m_sent.size(), 0);
        m_arrived = 0;
        return told;
    }

private:
    std::uint32_t m_live = 0;
    std::int32_t m_arrived = 0;
    std::vector<std::int32_t> m_sent;
};

// The finish itself, at its home. The body counts as one activity from the start.
class finish_count {
public:
    [[nodiscard]] bool is_over() const noexcept { return m_live == 0 && m_away == 0; }

    void begin() noexcept { ++m_live; }
    // Before the first message leaves. Throws std::bad_alloc.
    void prepare(rank places) {
        if (m_count.empty()) m_count.resize(places);
    }
    void send(rank to) noexcept { add(to, 1); }
    void arrive(rank home) noexcept {
        add(home, -1);
        ++m_live;
    }
    void arrive_and_end(rank home) noexcept { add(home, -1); }
    void end() noexcept { --m_live; }
    void apply(count_change const* told, std::size_t size) noexcept {
        for (std::size_t k = 0; k < size; ++k) add(told[k].place, told[k].by);
    }

private:
    void add(rank to, std::int32_t by) noexcept {
        std::int32_t& count = m_count[to];
        m_away -= count != 0 ? 1 : 0;
        count += by;
        m_away += count != 0 ? 1 : 0;
    }

    std::uint32_t m_live = 1;
    std::uint32_t m_away = 0; // places whose number is not zero
    std::vector<std::int32_t> m_count;
};

} // namespace tulle::remote

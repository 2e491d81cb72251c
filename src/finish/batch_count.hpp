// SPDX-License-Identifier: Apache-2.0
// How a finish over places knows that nothing of it is left. The time in which activities of the
// finish live at a place is an epoch of that place; what it sends during one to another place is a
// batch. At the end of an epoch, when none lives there any more, the place tells home, in one
// message, how large its batches are, and how many messages of which batches have arrived. The
// finish is over when no activity lives at home and every batch that it has heard of has arrived as
// a whole: src/finish/README.md has the argument.
// Batches are what makes it right when messages overtake each other: with one number for each pair
// of places, or for each place, the size of a batch that is told late is mistaken for that of
// another (tests/model/finish_test.cpp finds it).
// Both classes are plain data; their users lock.
// Source: X10's counting finish (Tardieu and others, "X10 and APGAS at petascale", PPoPP 2014); the
// batches are ours.
#pragma once

#include "base/rare.hpp"
#include "finish/batch_table.hpp"
#include "finish/losses.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>

namespace tulle::finishes {

// One epoch of a place that is not home. All that throws is std::bad_alloc, with nothing changed.
class finish_share {
public:
    explicit finish_share(std::uint64_t epoch) noexcept : m_epoch(epoch) {}

    // Where this share lies, whose epoch has ended and was told, another one can begin.
    void clear() noexcept { m_changes.clear(); }
    void begin_anew(std::uint64_t epoch) noexcept { m_epoch = epoch; }

    [[nodiscard]] std::uint64_t epoch() const noexcept { return m_epoch; }

    void begin() noexcept { ++m_live; } // an activity that was started here
    void arrive(batch const& messages) {
        m_changes.add(messages, -1);
        ++m_live;
    }
    // Called before the message leaves.
    void send(rank here, rank to) { m_changes.add({here, to, m_epoch}, 1); }
    // True: it was the last one, and the epoch is over. report() is due then.
    [[nodiscard]] bool end() noexcept { return --m_live == 0; }
    [[nodiscard]] batch_table const& report() const noexcept { return m_changes; }
    friend auto operator<=>(finish_share const&, finish_share const&) = default;

private:
    std::uint64_t m_epoch;
    std::uint32_t m_live = 0;
    batch_table m_changes;
};

// The finish itself, at its home. Its body counts as one activity from the start. All that throws
// is std::bad_alloc, with nothing changed.
class finish_count {
public:
    [[nodiscard]] bool is_over() const noexcept {
        return m_live == 0 && m_counts.empty() && (!m_losses || m_losses->is_settled());
    }

    void begin() noexcept { ++m_live; }
    void end() noexcept { --m_live; }
    // Called before the message leaves.
    void send(rank home, rank to) { add({home, to, 0}, 1); }
    void arrive(batch const& messages) {
        add(messages, -1);
        ++m_live;
    }
    void arrive_and_end(batch const& messages) { add(messages, -1); }
    void apply(batch_change const& told) { add(told.messages, told.by); }

    // A place has died (losses.hpp).
    void lose(rank dead, std::size_t survivors) {
        losses().begin(dead, survivors);
        for (auto const& [messages, by, unused] : m_counts.all()) {
            if (!m_losses->concern(messages)) continue;
            m_losses->add(messages, by);
            m_counts.add(messages, -by);
        }
    }
    // The report of a part has come.
    void part_told(part_name const& part, part_age const& age) {
        if (age.accounts() != 0) losses().part_told(part, age);
    }
    // They begin with the first call.
    [[nodiscard]] finish_losses& losses() { return m_losses.get(); }
    [[nodiscard]] bool has_losses() const noexcept { return bool(m_losses); }
    friend auto operator<=>(finish_count const&, finish_count const&) = default;

private:
    void add(batch const& messages, std::int32_t by) {
        if (TULLE_UNLIKELY(has_losses())) return add_beside_losses(messages, by);
        m_counts.add(messages, by);
    }
    TULLE_NOINLINE void add_beside_losses(batch const& messages, std::int32_t by) {
        m_losses->concern(messages) ? m_losses->add(messages, by) : m_counts.add(messages, by);
    }

    std::uint32_t m_live = 1;
    batch_table m_counts;
    base::rare<finish_losses> m_losses;
};

} // namespace tulle::finishes

// SPDX-License-Identifier: Apache-2.0
// A finish whose places die. Of the messages to and from a dead place home cannot know any more
// which have arrived. It does without their numbers, and asks the survivors instead: each tells,
// once it has all that the dead place had sent, which parts of finishes live with it and how many
// reports it has sent so far (an account). When these reports and those of these parts have come,
// nothing that the dead place may have started is unknown:
// src/messenger/place_death.md has the argument, tests/model/place_death_test.cpp tries all
// orders.
// All are plain data; their users lock. All that throws is std::bad_alloc.
// Idea: the parts of a dead place's activities are adopted, as in resilient X10 (Cunningham and
// others, PPoPP 2014); without a store of its own.
#pragma once

#include "finish/batch.hpp"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace tulle::finishes {

// A part of a finish: an epoch of a place is one of them.
struct part_name {
    rank at;
    std::uint64_t epoch;
    friend auto operator<=>(part_name const&, part_name const&) = default;
};

// How many deaths the place of a part knew of when the part began, and when its report left. If
// these differ, accounts name the part in between.
struct part_age {
    std::uint32_t born = 0;
    std::uint32_t told = 0;
    [[nodiscard]] std::uint64_t encode() const noexcept {
        return std::uint64_t{told} << 32U | born;
    }
    [[nodiscard]] static part_age decode(std::uint64_t word) noexcept {
        return {static_cast<std::uint32_t>(word), static_cast<std::uint32_t>(word >> 32U)};
    }
    [[nodiscard]] std::int32_t accounts() const noexcept {
        return static_cast<std::int32_t>(told - born);
    }
};

// What a survivor tells a home of one death.
struct account {
    struct part {
        std::uint64_t root; // address of the finish at its home
        std::uint64_t epoch;
        friend auto operator<=>(part const&, part const&) = default;
    };
    rank dead = 0;
    std::uint32_t deaths = 0;  // that the survivor knows of now
    std::uint64_t reports = 0; // to this home, before
    std::vector<part> alive;   // of this home's finishes, now
    friend auto operator<=>(account const&, account const&) = default;
};

// What one finish has lost.
class finish_losses {
public:
    [[nodiscard]] bool concern(batch const& messages) const noexcept {
        return !m_dead.empty() && (has(messages.from) || has(messages.to));
    }
    [[nodiscard]] std::vector<rank> const& dead() const noexcept { return m_dead; }

    // A place has died; so many survivors will tell of it.
    void begin(rank dead, std::size_t survivors) {
        m_dead.push_back(dead);
        m_untold += survivors;
        // They will not report.
        std::erase_if(m_adopted, [dead](auto const& one) { return one.first.at == dead; });
    }
    // A message that does not count any more: sent (1), arrived (-1).
    void add(batch const& messages, std::int32_t by) { change(m_missing, messages, by); }
    void adopt(part_name const& part) {
        if (!has(part.at)) change(m_adopted, part, 1);
    }
    void part_told(part_name const& part, part_age const& age) {
        if (age.accounts() != 0 && !has(part.at)) change(m_adopted, part, -age.accounts());
    }
    void account_complete() noexcept { --m_untold; }
    // Below zero: so many accounts will still name a part that has reported.
    [[nodiscard]] std::map<part_name, std::int32_t> const& adopted() const noexcept {
        return m_adopted;
    }

    [[nodiscard]] bool is_settled() const noexcept {
        if (m_untold != 0) return false;
        for (auto const& [part, accounts] : m_adopted)
            if (accounts > 0) return false;
        return true;
    }
    // Messages to and from that place whose arrival nobody has told.
    [[nodiscard]] std::uint64_t lost_by(rank dead) const noexcept {
        std::uint64_t sum = 0;
        for (auto const& [lost, by] : m_missing)
            if (by > 0 && (lost.to == dead || (lost.from == dead && !has(lost.to))))
                sum += static_cast<std::uint64_t>(by);
        return sum;
    }
    friend auto operator<=>(finish_losses const&, finish_losses const&) = default;

private:
    [[nodiscard]] bool has(rank place) const noexcept {
        return std::find(m_dead.begin(), m_dead.end(), place) != m_dead.end();
    }
    template <class Key>
    static void change(std::map<Key, std::int32_t>& counts, Key const& key, std::int32_t by) {
        auto const found = counts.try_emplace(key, 0).first;
        if ((found->second += by) == 0) counts.erase(found);
    }

    std::vector<rank> m_dead;
    std::size_t m_untold = 0;                // accounts
    std::map<batch, std::int32_t> m_missing; // messages less arrivals that were told
    // Accounts that name it; less, once it has reported, how many will.
    std::map<part_name, std::int32_t> m_adopted;
};

// What a home knows of the survivors' accounts.
class account_book {
public:
    struct entry {
        rank from;
        rank dead;
        std::vector<account::part> alive;
        friend auto operator<=>(entry const&, entry const&) = default;
    };

    // This place learns of a death; its finishes learn of deaths in the order of the calls.
    void die(rank dead, std::vector<rank> const& survivors) {
        for (rank const r : survivors) m_missing.insert({r, dead});
        m_numbers.emplace(dead, static_cast<std::uint32_t>(m_numbers.size()));
        std::erase_if(m_gone, [dead](auto const& one) { return one.first.at == dead; });
        // The dead place will not send its accounts of other deaths any more.
        for (auto const& [from, earlier] : std::vector(m_missing.begin(), m_missing.end()))
            if (from == dead) m_void.push_back({from, earlier, {}});
    }
    [[nodiscard]] std::uint32_t deaths() const noexcept {
        return static_cast<std::uint32_t>(m_numbers.size());
    }
    // The numbers of the dead, in order of their ranks.
    [[nodiscard]] std::map<rank, std::uint32_t> const& numbers() const noexcept {
        return m_numbers;
    }
    [[nodiscard]] bool is_settled() const noexcept {
        return m_missing.empty() && m_waiting.empty();
    }

    // A finish of this place is over. Accounts that come later may name parts of it, as those of a
    // finish that has begun at the same address.
    void forget_parts_of(finish_losses const& ended) {
        for (auto const& [part, accounts] : ended.adopted())
            if (accounts < 0) m_gone[part] -= accounts;
    }
    // Whether the finish that knew of so many deaths when it began has nothing from that place.
    [[nodiscard]] bool has_died_before(rank place, std::uint32_t deaths) const noexcept {
        auto const found = m_numbers.find(place);
        return found != m_numbers.end() && found->second < deaths;
    }

    void count_report(rank from, part_age const& age) { ++m_reports[{from, age.told}]; }
    void receive(rank from, account told) { m_waiting.emplace_back(from, std::move(told)); }

    // An account of a death that this place knows of, when all reports before it have come; each
    // account once.
    [[nodiscard]] std::optional<entry> take_complete() {
        for (auto at = m_waiting.begin(); at != m_waiting.end(); ++at) {
            auto const& [from, told] = *at;
            if (!m_numbers.contains(told.dead) || reports_before(from, told.deaths) != told.reports)
                continue;
            entry done{from, told.dead, std::move(at->second.alive)};
            m_waiting.erase(at);
            if (m_missing.erase({done.from, done.dead}) != 0) return without_gone(std::move(done));
            return take_complete(); // it has died since
        }
        while (!m_void.empty()) {
            entry done = std::move(m_void.back());
            m_void.pop_back();
            if (m_missing.erase({done.from, done.dead}) != 0) return done;
        }
        return {};
    }
    friend auto operator<=>(account_book const&, account_book const&) = default;

private:
    [[nodiscard]] entry without_gone(entry told) {
        std::erase_if(told.alive, [&](account::part const& one) {
            auto const found = m_gone.find({told.from, one.epoch});
            if (found == m_gone.end()) return false;
            if (--found->second == 0) m_gone.erase(found);
            return true;
        });
        return told;
    }
    [[nodiscard]] std::uint64_t reports_before(rank from, std::uint32_t deaths) const {
        std::uint64_t sum = 0;
        for (auto at = m_reports.lower_bound({from, 0});
             at != m_reports.end() && at->first.first == from && at->first.second < deaths; ++at)
            sum += at->second;
        return sum;
    }

    std::map<rank, std::uint32_t> m_numbers;
    std::set<std::pair<rank, rank>> m_missing; // whose account of whose death
    std::vector<std::pair<rank, account>> m_waiting;
    std::vector<entry> m_void;
    // Parts of finishes that are over, and how many accounts will name them.
    std::map<part_name, std::int32_t> m_gone;
    // Counts of reports, by sender and the number of deaths that it knew of.
    std::map<std::pair<rank, std::uint32_t>, std::uint64_t> m_reports;
};

} // namespace tulle::finishes

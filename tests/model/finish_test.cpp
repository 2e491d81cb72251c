// SPDX-License-Identifier: Apache-2.0
//
// The counting of a finish over places (finish/batch_count.hpp): all orders in which activities
// step and messages arrive, for small trees of activities. At no moment is the finish over while an
// activity lives or a message is under way; when nothing can happen any more, it is over;
// and every exception has come home then. Messages overtake each other as they like. States that
// were seen are not visited again, so the search is complete.
#include "finish/batch_count.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

using tulle::finishes::batch;
using tulle::finishes::finish_count;
using tulle::finishes::finish_share;
using tulle::finishes::rank;

constexpr rank k_home = 0;

// What an activity does: starts others, one after the other, each at a place; then it ends, perhaps
// by an exception.
struct script {
    struct start {
        rank at;
        int which; // of the scripts
    };
    std::vector<start> starts;
    bool throws = false;
};
using program = std::vector<script>; // the first one is the body of the finish

enum class mistake : std::uint8_t {
    none,
    tells_in_parts,
    forgets_what_was_sent,
    one_number_for_a_pair,
    one_number_for_a_place
};

struct activity {
    rank at;
    int which;
    std::size_t next = 0;
    friend auto operator<=>(activity const&, activity const&) = default;
};

enum class message_kind : std::uint8_t { start, report, exception };

struct message {
    message_kind kind;
    batch of; // it belongs to
    int which = 0;
    std::vector<std::pair<batch, int>> told{};
    friend auto operator<=>(message const&, message const&) = default;
};

struct state {
    finish_count root;
    std::map<rank, finish_share> shares;
    std::map<rank, std::uint64_t> epochs; // so far
    std::vector<activity> live;           // sorted
    std::vector<message> under_way;       // sorted
    int caught = 0;
    friend auto operator<=>(state const&, state const&) = default;

    void normalize() {
        std::sort(live.begin(), live.end());
        std::sort(under_way.begin(), under_way.end());
    }
};

struct shape {
    char const* name;
    program what;
    int exceptions; // that are thrown
};

class search {
public:
    explicit search(shape const& of, mistake planted = mistake::none)
        : m_program(of.what), m_planted(planted), m_thrown(of.exceptions) {}

    // What went wrong first, or nothing.
    std::string run() {
        state first;
        first.live.push_back({k_home, 0});
        visit(std::move(first));
        while (!m_open.empty() && m_wrong.empty()) {
            state const s = std::move(m_open.back());
            m_open.pop_back();
            expand(s);
        }
        return m_wrong;
    }
    [[nodiscard]] std::size_t states() const { return m_seen.size(); }
    [[nodiscard]] bool heard_of_arrivals() const { return m_was_early; }

private:
    void visit(state s) {
        s.normalize();
        bool const is_quiet = s.live.empty() && s.under_way.empty();
        if (s.root.is_over() && !is_quiet) m_wrong = "it is over while something is left";
        if (is_quiet && !s.root.is_over()) m_wrong = "nothing is left and it is not over";
        if (is_quiet && s.caught != m_thrown) m_wrong = "an exception is missing, or there twice";
        if (m_seen.insert(s).second) m_open.push_back(std::move(s));
    }
    void expand(state const& s) {
        for (std::size_t k = 0; k < s.live.size(); ++k) visit(after_step(s, k));
        for (std::size_t k = 0; k < s.under_way.size(); ++k) visit(after_arrival(s, k));
    }

    // The batch, as the planted mistake sees it.
    [[nodiscard]] batch seen(batch of) const {
        if (m_planted == mistake::one_number_for_a_pair ||
            m_planted == mistake::one_number_for_a_place)
            of.epoch = 0;
        if (m_planted == mistake::one_number_for_a_place) of.from = k_home;
        return of;
    }
    [[nodiscard]] static std::uint64_t epoch_of(state const& s, rank at) {
        return at == k_home ? 0 : s.shares.at(at).epoch();
    }
    void count_send(state& s, rank from, rank to) const {
        if (from == k_home)
            s.root.send(k_home, to);
        else if (m_planted != mistake::forgets_what_was_sent || to == k_home)
            s.shares.at(from).send(from, to);
    }
    // The activity starts its next one, or ends.
    state after_step(state s, std::size_t k) {
        activity& a = s.live[k];
        script const& what = m_program[static_cast<std::size_t>(a.which)];
        if (a.next == what.starts.size()) return after_end(std::move(s), k);
        auto const start = what.starts[a.next++];
        rank const from = a.at;
        if (start.at == from) {
            begin_here(s, from);
            s.live.push_back({from, start.which});
            return s;
        }
        count_send(s, from, start.at);
        s.under_way.push_back(
            {message_kind::start, {from, start.at, epoch_of(s, from)}, start.which});
        return s;
    }
    static void begin_here(state& s, rank at) {
        if (at == k_home)
            s.root.begin();
        else
            s.shares.at(at).begin();
    }
    state after_end(state s, std::size_t k) const {
        activity const a = s.live[k];
        s.live.erase(s.live.begin() + static_cast<std::ptrdiff_t>(k));
        if (m_program[static_cast<std::size_t>(a.which)].throws) throw_from(s, a.at);
        if (a.at == k_home)
            s.root.end();
        else if (s.shares.at(a.at).end())
            tell(s, a.at);
        return s;
    }
    static void throw_from(state& s, rank at) {
        if (at == k_home) {
            ++s.caught;
            return;
        }
        s.shares.at(at).send(at, k_home);
        s.under_way.push_back({message_kind::exception, {at, k_home, epoch_of(s, at)}});
    }
    void tell(state& s, rank at) const {
        message all{message_kind::report, {at, k_home, 0}};
        for (auto const& change : s.shares.at(at).report().all())
            all.told.emplace_back(seen(change.messages), change.by);
        s.shares.erase(at);
        if (m_planted != mistake::tells_in_parts) return s.under_way.push_back(std::move(all));
        for (auto const& one : all.told)
            s.under_way.push_back({message_kind::report, {at, k_home, 0}, 0, {one}});
    }

    state after_arrival(state s, std::size_t k) {
        message const m = s.under_way[k];
        s.under_way.erase(s.under_way.begin() + static_cast<std::ptrdiff_t>(k));
        switch (m.kind) {
            case message_kind::start: start(s, m); break;
            case message_kind::report:
                for (auto const& [of, by] : m.told) s.root.apply({of, by});
                m_was_early |= std::any_of(m.told.begin(), m.told.end(), [](auto const& one) {
                    return one.second < 0 && one.first.from != k_home;
                });
                break;
            case message_kind::exception:
                ++s.caught;
                s.root.arrive_and_end(seen(m.of));
                break;
        }
        return s;
    }
    void start(state& s, message const& m) const {
        rank const at = m.of.to;
        if (at == k_home)
            s.root.arrive(seen(m.of));
        else
            share_of(s, at).arrive(m.of);
        s.live.push_back({at, m.which});
    }
    static finish_share& share_of(state& s, rank at) {
        auto const found = s.shares.find(at);
        return found != s.shares.end()
                   ? found->second
                   : s.shares.emplace(at, finish_share(++s.epochs[at])).first->second;
    }

    program m_program;
    mistake m_planted;
    int m_thrown;
    std::set<state> m_seen;
    std::vector<state> m_open;
    std::string m_wrong;
    bool m_was_early = false; // some place other than home was told to have sent what arrived
};

std::vector<shape> shapes() {
    return {
        {"nothing", {{{}, false}}, 0},
        {"local ones", {{{{0, 1}, {0, 1}}}, {}}, 0},
        {"one away", {{{{1, 1}}}, {}}, 0},
        {"two away at two places", {{{{1, 1}, {2, 1}}}, {}}, 0},
        {"there and back", {{{{1, 1}}}, {{{0, 2}}}, {}}, 0},
        {"a ring over three", {{{{1, 1}}}, {{{2, 2}}}, {{{0, 3}}}, {{{1, 4}}}, {}}, 0},
        {"back and forth", {{{{1, 1}}}, {{{2, 2}}}, {{{1, 3}}}, {{{2, 4}}}, {}}, 0},
        {"each starts one at each", {{{{1, 1}, {2, 1}}}, {{{0, 2}, {1, 2}, {2, 2}}}, {}}, 0},
        {"many from one", {{{{1, 1}}}, {{{2, 2}, {2, 2}, {0, 2}}}, {{{1, 3}}}, {}}, 0},
        {"exceptions from everywhere",
         {{{{1, 1}, {0, 2}}, true}, {{{2, 2}, {1, 2}}, true}, {{}, true}},
         5},
    };
}

TEST(finish, is_over_exactly_when_nothing_is_left) {
    for (shape const& s : shapes()) {
        search all(s);
        EXPECT_EQ(all.run(), "") << s.name;
        std::printf("%-28s %zu states\n", s.name, all.states());
    }
}

TEST(finish, reports_arrive_before_what_they_answer) {
    search all(shapes()[7]);
    EXPECT_EQ(all.run(), "");
    EXPECT_TRUE(all.heard_of_arrivals());
}

// Each planted mistake is found in at least one of the programs.
bool is_found(mistake planted) {
    auto const all = shapes();
    return std::any_of(all.begin(), all.end(),
                       [planted](shape const& s) { return !search(s, planted).run().empty(); });
}

TEST(finish, telling_in_parts_is_wrong) { EXPECT_TRUE(is_found(mistake::tells_in_parts)); }
TEST(finish, forgetting_what_was_sent_is_wrong) {
    EXPECT_TRUE(is_found(mistake::forgets_what_was_sent));
}
// Without epochs. This is how X10 counts, whose messages between two places do not overtake each
// other.
TEST(finish, one_number_for_each_pair_of_places_is_wrong) {
    EXPECT_TRUE(is_found(mistake::one_number_for_a_pair));
}
TEST(finish, one_number_for_each_place_is_wrong) {
    EXPECT_TRUE(is_found(mistake::one_number_for_a_place));
}

} // namespace

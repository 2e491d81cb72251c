// SPDX-License-Identifier: Apache-2.0
//
// A finish over places of which one dies (finish/losses.hpp): all orders in which activities step,
// messages arrive or are lost with the dead place, the place dies, and the others learn of it. The
// finish is never over while an activity lives at a survivor or is on its way to one; when nothing
// can happen any more, it is over. States that were seen are not visited again, so the search is
// complete.
#include "base/sanitize.hpp"
#include "finish/batch_count.hpp"
#include "finish/losses.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <compare>
#include <cstdint>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace tulle::finishes;

constexpr rank k_first = 0; // the home
constexpr bool k_takes_samples =
    tulle::base::k_thread_sanitizer || tulle::base::k_address_sanitizer;
constexpr std::uint64_t k_root = 1;

// An activity starts others, one after the other, each at a place, and ends.
struct sprout {
    rank at;
    int which; // of the activities of the program
};
using forest = std::vector<std::vector<sprout>>; // the first one is the body of the finish

enum class slip : std::uint8_t {
    none,
    names_no_parts,
    counts_no_reports,
    learns_too_soon,
    asks_nobody,
    remembers_no_parts
};

struct living {
    rank at;
    int which;
    std::size_t next = 0;
    friend auto operator<=>(living const&, living const&) = default;
};

enum class sent_as : std::uint8_t { start, report, account };

struct parcel {
    sent_as kind;
    batch of{}; // it belongs to; of a report and an account: from where to where
    int which = 0;
    part_name part{};
    std::uint32_t born = 0, told_at = 0;
    std::vector<std::pair<batch, int>> told{};
    account survivors{};
    friend auto operator<=>(parcel const&, parcel const&) = default;
};

struct share_and_age {
    finish_share share;
    std::uint32_t born;
    friend auto operator<=>(share_and_age const&, share_and_age const&) = default;
};

struct world_state {
    finish_count root;
    account_book book;
    std::map<rank, share_and_age> shares;
    std::map<rank, std::uint64_t> epochs;  // so far
    std::map<rank, std::uint64_t> reports; // so far
    std::set<rank> dead;
    std::set<std::pair<rank, rank>> known; // who knows of whose death
    std::vector<living> live;              // sorted
    std::vector<parcel> under_way;         // sorted
    int finishes = 1;                      // so far, one after the other, at the same address
    std::uint32_t born = 0;                // deaths that home knew of when the last one began
    friend auto operator<=>(world_state const&, world_state const&) = default;

    void normalize() {
        std::sort(live.begin(), live.end());
        std::sort(under_way.begin(), under_way.end());
    }
    [[nodiscard]] std::uint32_t deaths_known(rank by) const {
        return static_cast<std::uint32_t>(std::count_if(
            known.begin(), known.end(), [by](auto const& one) { return one.first == by; }));
    }
    [[nodiscard]] bool has_parcel(rank from, rank to) const {
        return std::any_of(under_way.begin(), under_way.end(),
                           [&](auto const& p) { return p.of.from == from && p.of.to == to; });
    }
    [[nodiscard]] bool has_starts() const {
        return std::any_of(under_way.begin(), under_way.end(),
                           [](auto const& p) { return p.kind == sent_as::start; });
    }
};

struct mortal_shape {
    char const* name;
    rank places;
    std::vector<rank> mortal;
    forest what;
    int finishes = 1; // of the same activities, one after the other
};

class death_search {
public:
    explicit death_search(mortal_shape const& of, slip planted = slip::none)
        : m_shape(of), m_planted(planted) {}

    // What went wrong first, or nothing.
    std::string run() {
        world_state first;
        first.live.push_back({k_first, 0});
        visit(std::move(first));
        while (!m_open.empty() && m_wrong.empty()) {
            world_state const s = std::move(m_open.back());
            m_open.pop_back();
            expand(s);
        }
        return m_wrong;
    }
    [[nodiscard]] std::size_t states() const { return m_seen.size(); }
    [[nodiscard]] bool has_lost() const { return m_has_lost; }

private:
    void visit(world_state s) {
        s.normalize();
        bool const is_over = s.root.is_over();
        if (is_over && (!s.live.empty() || s.has_starts()))
            m_wrong = "it is over while something is left";
        for (rank const d : s.dead)
            m_has_lost |= is_over && s.root.has_losses() && s.root.losses().lost_by(d) != 0;
        if (m_seen.insert(s).second) m_open.push_back(std::move(s));
    }
    void expand(world_state const& s) {
        m_is_stuck = true;
        for (std::size_t k = 0; k < s.live.size(); ++k) go_on(after_step(s, k));
        for (std::size_t k = 0; k < s.under_way.size(); ++k) {
            go_on(after_arrival(s, k));
            if (s.dead.contains(s.under_way[k].of.from)) go_on(after_loss(s, k));
        }
        for (rank const d : m_shape.mortal) expand_death(s, d);
        if (s.root.is_over() && s.finishes < m_shape.finishes) go_on(after_renewal(s));
        if (m_is_stuck && !s.root.is_over()) m_wrong = "nothing is left and it is not over";
    }
    void expand_death(world_state const& s, rank d) {
        if (!s.dead.contains(d)) return visit(after_death(s, d)); // it need not happen
        for (rank r = 0; r < m_shape.places; ++r)
            if (!s.dead.contains(r) && !s.known.contains({r, d}) &&
                (m_planted == slip::learns_too_soon || !s.has_parcel(d, r)))
                go_on(after_learning(s, r, d));
    }
    void go_on(world_state s) {
        m_is_stuck = false;
        visit(std::move(s));
    }

    // A finish that is over is withdrawn, and the next one begins.
    world_state after_renewal(world_state s) const {
        if (m_planted != slip::remembers_no_parts) s.book.forget_parts_of(s.root.losses());
        s.root = finish_count();
        s.born = s.book.deaths();
        for (auto const& [dead, number] : s.book.numbers()) s.root.lose(dead, 0);
        s.live.push_back({k_first, 0});
        ++s.finishes;
        return s;
    }

    static std::uint64_t epoch_of(world_state const& s, rank at) {
        return at == k_first ? 0 : s.shares.at(at).share.epoch();
    }
    static void count_send(world_state& s, rank from, rank to) {
        if (from == k_first)
            s.root.send(k_first, to);
        else
            s.shares.at(from).share.send(from, to);
    }
    static void post(world_state& s, parcel p) {
        if (!s.dead.contains(p.of.to)) s.under_way.push_back(std::move(p));
    }
    world_state after_step(world_state s, std::size_t k) {
        living& a = s.live[k];
        auto const& starts = m_shape.what[static_cast<std::size_t>(a.which)];
        if (a.next == starts.size()) return after_end(std::move(s), k);
        sprout const one = starts[a.next++];
        rank const from = a.at;
        if (one.at == from) {
            from == k_first ? s.root.begin() : s.shares.at(from).share.begin();
            s.live.push_back({from, one.which});
        } else if (!s.known.contains({from, one.at})) { // else it is refused
            count_send(s, from, one.at);
            post(s, {sent_as::start, {from, one.at, epoch_of(s, from)}, one.which});
        }
        return s;
    }
    world_state after_end(world_state s, std::size_t k) const {
        rank const at = s.live[k].at;
        s.live.erase(s.live.begin() + static_cast<std::ptrdiff_t>(k));
        if (at == k_first)
            s.root.end();
        else if (s.shares.at(at).share.end())
            report(s, at);
        return s;
    }
    static void report(world_state& s, rank at) {
        share_and_age const& part = s.shares.at(at);
        parcel all{sent_as::report,          {at, k_first, 0}, 0,
                   {at, part.share.epoch()}, part.born,        s.deaths_known(at)};
        for (auto const& change : part.share.report().all())
            all.told.emplace_back(change.messages, change.by);
        s.shares.erase(at);
        ++s.reports[at];
        post(s, std::move(all));
    }

    world_state after_arrival(world_state s, std::size_t k) {
        parcel const p = s.under_way[k];
        s.under_way.erase(s.under_way.begin() + static_cast<std::ptrdiff_t>(k));
        switch (p.kind) {
            case sent_as::start: start(s, p); break;
            case sent_as::report: take_report(s, p); break;
            case sent_as::account:
                s.book.receive(p.of.from, p.survivors);
                settle(s);
                break;
        }
        return s;
    }
    static world_state after_loss(world_state s, std::size_t k) {
        s.under_way.erase(s.under_way.begin() + static_cast<std::ptrdiff_t>(k));
        return s;
    }
    static void start(world_state& s, parcel const& p) {
        rank const at = p.of.to;
        if (at == k_first)
            s.root.arrive(p.of);
        else {
            auto found = s.shares.find(at);
            if (found == s.shares.end())
                found = s.shares
                            .emplace(
                                at, share_and_age{finish_share(++s.epochs[at]), s.deaths_known(at)})
                            .first;
            found->second.share.arrive(p.of);
        }
        s.live.push_back({at, p.which});
    }
    static void take_report(world_state& s, parcel const& p) {
        for (auto const& [of, by] : p.told) s.root.apply({of, by});
        s.root.part_told(p.part, {p.born, p.told_at});
        s.book.count_report(p.of.from, {p.born, p.told_at});
        settle(s);
    }
    static void settle(world_state& s) {
        while (auto const done = s.book.take_complete()) {
            if (s.born > s.book.numbers().at(done->dead)) continue;
            for (auto const& part : done->alive) s.root.losses().adopt({done->from, part.epoch});
            s.root.losses().account_complete();
        }
    }

    static world_state after_death(world_state s, rank d) {
        s.dead.insert(d);
        s.shares.erase(d);
        std::erase_if(s.live, [d](auto const& a) { return a.at == d; });
        std::erase_if(s.under_way, [d](auto const& p) { return p.of.to == d; });
        return s;
    }
    world_state after_learning(world_state s, rank r, rank d) const {
        s.known.insert({r, d});
        if (r != k_first) {
            tell_account(s, r, d);
            return s;
        }
        std::vector<rank> survivors;
        for (rank other = 1; other < m_shape.places && m_planted != slip::asks_nobody; ++other)
            if (!s.known.contains({k_first, other})) survivors.push_back(other);
        s.book.die(d, survivors);
        s.root.lose(d, survivors.size());
        settle(s);
        return s;
    }
    void tell_account(world_state& s, rank r, rank d) const {
        account all{
            d, s.deaths_known(r), m_planted == slip::counts_no_reports ? 0 : s.reports[r], {}};
        if (s.shares.contains(r) && m_planted != slip::names_no_parts)
            all.alive.push_back({k_root, s.shares.at(r).share.epoch()});
        if (m_planted == slip::counts_no_reports) all.deaths = 0;
        post(s, {sent_as::account, {r, k_first, 0}, 0, {}, 0, 0, {}, all});
    }

    mortal_shape m_shape;
    slip m_planted;
    std::set<world_state> m_seen;
    std::vector<world_state> m_open;
    std::string m_wrong;
    bool m_is_stuck = true;
    bool m_has_lost = false;
};

std::vector<mortal_shape> mortal_shapes() {
    return {
        {"one at the dead", 2, {1}, {{{1, 1}}, {}}},
        {"the dead starts one", 3, {1}, {{{1, 1}}, {{2, 2}}, {}}},
        {"and that one another", 3, {1}, {{{1, 1}}, {{2, 2}}, {{0, 3}, {2, 3}}, {}}},
        {"another one afterwards", 3, {1}, {{{1, 1}, {2, 2}}, {}, {}}, 2},
        {"there and back", 3, {1}, {{{1, 1}}, {{2, 2}}, {{1, 3}}, {{2, 4}}, {}}},
        {"a chain over four", 4, {1}, {{{1, 1}}, {{2, 2}}, {{3, 3}}, {{0, 4}}, {}}},
        {"beside another one", 3, {1}, {{{2, 2}, {1, 1}}, {{2, 2}}, {}}},
        {"two deaths", 4, {1, 2}, {{{1, 1}}, {{2, 2}}, {{3, 3}}, {}}},
        {"two deaths, and back", 3, {1, 2}, {{{1, 1}}, {{2, 2}}, {{1, 3}, {0, 3}}, {}}},
    };
}

TEST(place_death, a_finish_is_over_exactly_when_nothing_is_left_at_the_survivors) {
    bool has_lost = false;
    for (mortal_shape const& s : mortal_shapes()) {
        if (k_takes_samples && s.mortal.size() > 1) continue;
        death_search all(s);
        EXPECT_EQ(all.run(), "") << s.name;
        has_lost |= all.has_lost();
        std::printf("%-28s %zu states\n", s.name, all.states());
    }
    EXPECT_TRUE(has_lost);
}

bool is_noticed(slip planted) {
    auto const all = mortal_shapes();
    return std::any_of(all.begin(), all.end(), [planted](mortal_shape const& s) {
        return !death_search(s, planted).run().empty();
    });
}

TEST(place_death, accounts_without_parts_are_wrong) {
    EXPECT_TRUE(is_noticed(slip::names_no_parts));
}
TEST(place_death, accounts_that_do_not_wait_for_reports_are_wrong) {
    EXPECT_TRUE(is_noticed(slip::counts_no_reports));
}
TEST(place_death, learning_before_all_has_been_delivered_is_wrong) {
    EXPECT_TRUE(is_noticed(slip::learns_too_soon));
}
TEST(place_death, naming_parts_of_a_finish_that_is_over_is_wrong) {
    EXPECT_TRUE(is_noticed(slip::remembers_no_parts));
}
TEST(place_death, asking_nobody_is_wrong) { EXPECT_TRUE(is_noticed(slip::asks_nobody)); }

} // namespace

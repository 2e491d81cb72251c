// SPDX-License-Identifier: Apache-2.0
//
// The cancellation of a finish over places (src/finish/README.md, rules 7 to 11): all orders in
// which activities step, messages arrive and the finish is cancelled, for small trees of activities
// that end only when they are cancelled. When nothing can happen any more, all have ended, and the
// finish is over; at no moment is it over before. Each rule that is left out is missed.
#include "finish/batch_count.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace {

using tulle::finishes::batch;
using tulle::finishes::batch_change;
using tulle::finishes::finish_count;
using tulle::finishes::finish_share;
using tulle::finishes::rank;

constexpr rank k_home_of_stop = 0;

// Starts others, each at a place; then it waits for the cancellation, or ends.
struct stop_script {
    struct start {
        rank at;
        int which;
    };
    std::vector<start> starts;
    bool waits = true;
};
using stop_program = std::vector<stop_script>; // the first one is the body

enum class left_out : std::uint8_t {
    nothing,
    begun,
    answer_to_begun,
    stop_to_noted,
    count_of_stop
};

struct stop_activity {
    rank at;
    int which;
    std::size_t next = 0;
    friend auto operator<=>(stop_activity const&, stop_activity const&) = default;
};

enum class stop_kind : std::uint8_t { start, begun, stop, report };

struct stop_message {
    stop_kind kind;
    batch of;
    int which = 0;
    bool is_marked = false; // its sender was cancelled
    std::vector<std::pair<batch, int>> told{};
    friend auto operator<=>(stop_message const&, stop_message const&) = default;
};

struct stop_part {
    finish_share share;
    bool is_stopped = false;
    friend auto operator<=>(stop_part const&, stop_part const&) = default;
};

struct stop_state {
    finish_count root;
    std::map<rank, stop_part> parts;
    std::map<rank, std::uint64_t> epochs;
    std::vector<stop_activity> live;
    std::vector<stop_message> under_way;
    std::set<rank> noted;
    bool is_stopped = false; // at home
    bool has_told = false;
    friend auto operator<=>(stop_state const&, stop_state const&) = default;

    void normalize() {
        std::sort(live.begin(), live.end());
        std::sort(under_way.begin(), under_way.end());
    }
};

class stop_search {
public:
    stop_search(stop_program what, left_out missing) : m_what(std::move(what)), m_missing(missing) {
        stop_state first;
        first.live.push_back({k_home_of_stop, 0});
        visit(std::move(first));
        while (!m_open.empty()) {
            stop_state const next = m_open.back();
            m_open.pop_back();
            step(next);
        }
    }
    [[nodiscard]] std::size_t states() const { return m_seen.size(); }
    int over_too_early = 0, never_over = 0;

private:
    void visit(stop_state s) {
        s.normalize();
        if (!m_seen.insert(s).second) return;
        if (s.root.is_over() && (!s.live.empty() || !s.under_way.empty())) {
            ++over_too_early;
            return;
        }
        m_open.push_back(std::move(s));
    }
    void step(stop_state const& s) {
        m_moved = false;
        for (std::size_t k = 0; k < s.live.size(); ++k) act(s, k);
        for (std::size_t k = 0; k < s.under_way.size(); ++k) deliver(s, k);
        if (s.root.is_over()) return;
        if (!s.is_stopped) go_to(s, [](stop_state& to) { to.is_stopped = true; });
        if (s.is_stopped && !s.has_told && !s.noted.empty())
            go_to(s, [this](stop_state& to) { tell(to); });
        if (!m_moved) ++never_over;
    }
    template <class Change> void go_to(stop_state const& from, Change change) {
        stop_state to = from;
        change(to);
        m_moved = true;
        visit(std::move(to));
    }

    static bool is_stopped(stop_state const& s, rank at) {
        return at == k_home_of_stop ? s.is_stopped : s.parts.at(at).is_stopped;
    }

    // --- activities ------------------------------------------------------------------------------
    void act(stop_state const& s, std::size_t k) {
        stop_script const& own = m_what[static_cast<std::size_t>(s.live[k].which)];
        if (s.live[k].next < own.starts.size())
            go_to(s, [&](stop_state& to) { start(to, to.live[k], own.starts[s.live[k].next]); });
        else if (!own.waits || is_stopped(s, s.live[k].at))
            go_to(s, [&](stop_state& to) {
                rank const at = to.live[k].at;
                to.live.erase(to.live.begin() + static_cast<std::ptrdiff_t>(k));
                end(to, at);
            });
    }
    static void start(stop_state& s, stop_activity& by, stop_script::start const& what) {
        ++by.next;
        s.under_way.push_back(
            {stop_kind::start, count(s, by.at, what.at), what.which, is_stopped(s, by.at)});
    }
    static batch count(stop_state& s, rank from, rank to) {
        if (from == k_home_of_stop) {
            s.root.send(from, to);
            return {from, to, 0};
        }
        finish_share& share = s.parts.at(from).share;
        share.send(from, to);
        return {from, to, share.epoch()};
    }
    static void end(stop_state& s, rank at) {
        if (at == k_home_of_stop) return s.root.end();
        stop_part& part = s.parts.at(at);
        if (!part.share.end()) return;
        stop_message told{stop_kind::report, {at, k_home_of_stop, part.share.epoch()}};
        for (batch_change const& one : part.share.report().all())
            told.told.emplace_back(one.messages, one.by);
        s.under_way.push_back(std::move(told));
        s.parts.erase(at);
    }

    // --- messages --------------------------------------------------------------------------------
    void deliver(stop_state const& s, std::size_t k) {
        go_to(s, [&](stop_state& to) {
            stop_message const m = to.under_way[k];
            to.under_way.erase(to.under_way.begin() + static_cast<std::ptrdiff_t>(k));
            switch (m.kind) {
                case stop_kind::report:
                    for (auto const& [of, by] : m.told) to.root.apply({of, by});
                    return;
                case stop_kind::begun: return take_begun(to, m);
                case stop_kind::stop: return take_stop(to, m);
                case stop_kind::start: return take_start(to, m);
            }
        });
    }
    void take_start(stop_state& s, stop_message const& m) {
        rank const at = m.of.to;
        if (at == k_home_of_stop) {
            s.root.arrive(m.of);
            s.is_stopped = s.is_stopped || m.is_marked;
        } else {
            bool const is_new = join(s, at, m.of);
            s.parts.at(at).is_stopped = s.parts.at(at).is_stopped || m.is_marked;
            if (is_new && !m.is_marked && m_missing != left_out::begun)
                s.under_way.push_back({stop_kind::begun, count(s, at, k_home_of_stop)});
        }
        if (is_stopped(s, at)) return end(s, at); // it does not begin
        s.live.push_back({at, m.which});
    }
    static bool join(stop_state& s, rank at, batch const& of) {
        bool const is_new = !s.parts.contains(at);
        if (is_new) s.parts.emplace(at, stop_part{finish_share(++s.epochs[at])});
        s.parts.at(at).share.arrive(of);
        return is_new;
    }
    void take_begun(stop_state& s, stop_message const& m) {
        s.root.arrive_and_end(m.of);
        if (!s.has_told)
            s.noted.insert(m.of.from);
        else if (m_missing != left_out::answer_to_begun)
            send_stop(s, m.of.from);
    }
    void tell(stop_state& s) {
        s.has_told = true;
        if (m_missing != left_out::stop_to_noted)
            for (rank const r : s.noted) send_stop(s, r);
        s.noted.clear();
    }
    void send_stop(stop_state& s, rank to) {
        batch of{k_home_of_stop, to, 0};
        if (m_missing != left_out::count_of_stop) of = count(s, k_home_of_stop, to);
        s.under_way.push_back({stop_kind::stop, of});
    }
    void take_stop(stop_state& s, stop_message const& m) {
        rank const at = m.of.to;
        if (m_missing == left_out::count_of_stop) {
            if (s.parts.contains(at)) s.parts.at(at).is_stopped = true;
            return;
        }
        join(s, at, m.of);
        s.parts.at(at).is_stopped = true;
        end(s, at);
    }

    stop_program m_what;
    left_out m_missing;
    std::set<stop_state> m_seen;
    std::vector<stop_state> m_open;
    bool m_moved = false;
};

struct stop_shape {
    char const* name;
    stop_program what;
};
std::vector<stop_shape> stop_shapes() {
    return {
        {"two places", {{{{1, 1}, {2, 1}}}, {{}}}},
        {"a chain that waits", {{{{1, 1}}}, {{{2, 2}}}, {{}}}},
        {"there and back, parts end and begin",
         {{{{1, 1}}, false}, {{{2, 2}}, false}, {{{1, 3}}, false}, {{}}}},
        {"back at home", {{{{1, 1}}}, {{{0, 2}}, false}, {{{1, 3}}}, {{}}}},
        {"two at one place", {{{{1, 1}, {1, 2}}}, {{}, false}, {{{2, 3}}}, {{}}}},
    };
}

TEST(finish_stop_model, misses_nobody_and_ends) {
    for (stop_shape const& one : stop_shapes()) {
        stop_search const all(one.what, left_out::nothing);
        EXPECT_EQ(all.over_too_early, 0) << one.name;
        EXPECT_EQ(all.never_over, 0) << one.name;
        EXPECT_GT(all.states(), 20U) << one.name;
    }
}

TEST(finish_stop_model, needs_each_rule) {
    for (left_out const missing : {left_out::begun, left_out::answer_to_begun,
                                   left_out::stop_to_noted, left_out::count_of_stop}) {
        int found = 0;
        for (stop_shape const& one : stop_shapes()) {
            stop_search const all(one.what, missing);
            found += all.over_too_early + all.never_over;
        }
        EXPECT_GT(found, 0) << "without rule " << static_cast<int>(missing);
    }
}

} // namespace

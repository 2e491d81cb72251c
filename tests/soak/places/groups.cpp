// SPDX-License-Identifier: Apache-2.0
//
// Steps made of several activities that wait for each other.
#include "player.hpp"

#include <tulle/atomic_block.hpp>
#include <tulle/clock.hpp>
#include <tulle/place_local.hpp>
#include <tulle/team.hpp>

#include <chrono>
#include <numeric>

namespace soak::over_places {

namespace {

// What the activities of a step share, at the place where it is played; they reach it as one
// process.
struct common {
    common(player& p, step const& s) : playing(p), what(s) {}

    player& playing;
    step const& what;
    std::uint64_t word = 0;
    tulle::global_ref<std::uint64_t> address{word};
    std::vector<std::uint64_t> cells;   // plain
    std::vector<std::uint64_t> results; // by activities, plain
    std::atomic<std::uint64_t> total{0};

    [[nodiscard]] std::uint64_t sum() const {
        return std::accumulate(results.begin(), results.end(), std::uint64_t{0});
    }
};

// Work(common, who) as an activity for each of so many, at the places that the step has drawn; the
// sum of what they return.
template <class Work> std::uint64_t sum_of_activities(common& c, std::uint64_t count, Work work) {
    c.results.assign(count, 0);
    tulle::finish([&](tulle::activities& all) {
        for (std::uint64_t who = 0; who < count; ++who)
            all.async_at(
                tulle::place(c.what.place(who, c.playing.places())),
                [](Work own, player::task t, std::uint64_t me) {
                    auto& mine = t.object<common>();
                    mine.results[me] = own(mine, me);
                },
                work, c.playing.about(c), who);
    });
    return c.sum();
}

// --- full/empty words ----------------------------------------------------------------------------

// By the word's global address, half of them with limits that may be reached.
std::uint64_t take_at_home(common& c, bool in_steps) {
    if (!in_steps) return tulle::feb::read_fe(c.address);
    for (;;)
        if (auto const taken =
                tulle::feb::try_read_fe_for(c.address, std::chrono::microseconds(50)))
            return *taken;
}
void put_at_home(common& c, std::uint64_t value, bool in_steps) {
    if (!in_steps) return tulle::feb::write_ef(c.address, value);
    while (!tulle::feb::try_write_ef_for(c.address, value, std::chrono::microseconds(50))) {}
}

std::uint64_t produce_or_consume(common& c, std::uint64_t who) {
    queue_size const size(c.what);
    std::uint64_t total = 0;
    if (who < size.producers)
        for (std::uint64_t item = 0; item < size.items; ++item)
            put_at_home(c, share(c.what, who, item), c.what.one_in(who, 2));
    else
        for (std::uint64_t left = size.taken_by(who - size.producers); left != 0; --left)
            total += take_at_home(c, c.what.one_in(who, 2));
    return total;
}

// --- clocks --------------------------------------------------------------------------------------

// Each writes its own cell before the clock advances, and reads all cells of the phase after it.
std::uint64_t advance_through(common& c, std::uint64_t who, tulle::clock const& k) {
    std::uint64_t const members = helpers(c.what);
    std::uint64_t total = 0;
    for (std::uint64_t phase = 0; phase < phases(c.what); ++phase) {
        std::uint64_t* const row = c.cells.data() + phase * members;
        row[who] = share(c.what, who, phase);
        if (c.what.one_in(30 + who + phase, 3)) tulle::this_thread::yield();
        k.advance();
        total += mix(std::accumulate(row, row + members, std::uint64_t{0}), phase);
    }
    return total;
}

// --- teams ---------------------------------------------------------------------------------------

using values = std::vector<std::uint64_t>;

std::uint64_t in_order(values const& all) {
    return std::accumulate(
        all.begin(), all.end(), std::uint64_t{0},
        [](std::uint64_t before, std::uint64_t one) { return mix(before, one); });
}
values shares(step const& s, std::uint64_t first, std::uint64_t count, std::uint64_t round) {
    values all(count);
    for (std::uint64_t k = 0; k < count; ++k) all[k] = share(s, first + k, round);
    return all;
}

struct collective {
    common& c;
    tulle::team const& all;
    std::uint64_t round;
    std::uint64_t size = static_cast<std::uint64_t>(all.size());
    std::uint64_t mine = static_cast<std::uint64_t>(all.rank());
    int root = static_cast<int>(c.what.draw(40 + round, size));

    [[nodiscard]] std::uint64_t own() const { return share(c.what, mine, round); }
    [[nodiscard]] std::uint64_t meet() const {
        std::uint64_t* const row = c.cells.data() + round * size;
        row[mine] = own();
        all.barrier();
        return std::accumulate(row, row + size, std::uint64_t{0});
    }
    // Behind so many bytes that it may take another way.
    [[nodiscard]] std::uint64_t spread() const {
        values sent(c.what.one_in(60 + round, 3) ? 900 : 1, own());
        all.broadcast(sent, root);
        return mix(sent.back(), 1);
    }
    [[nodiscard]] std::uint64_t combine() const {
        return all
            .allreduce(affine_of(c.what, mine, round),
                       [](affine const& a, affine const& b) { return a * b; })
            .hash();
    }
    [[nodiscard]] std::uint64_t combine_at_root() const {
        auto const made = all.reduce(affine_of(c.what, mine, round), root,
                                     [](affine const& a, affine const& b) { return a * b; });
        return made ? made->hash() : 0;
    }
    [[nodiscard]] std::uint64_t collect() const { return in_order(all.all_gather(own())); }
    [[nodiscard]] std::uint64_t scatter() const {
        return all.scatter(
            static_cast<int>(mine) == root ? shares(c.what, 0, size, round) : values(), root);
    }
    [[nodiscard]] std::uint64_t exchange() const {
        return in_order(all.all_to_all(shares(c.what, mine * size, size, round)));
    }

    [[nodiscard]] std::uint64_t play() const {
        switch (c.what.draw(20 + round, 7)) {
            case 0: return meet();
            case 1: return spread();
            case 2: return combine();
            case 3: return combine_at_root();
            case 4: return collect();
            case 5: return scatter();
            default: return exchange();
        }
    }
};

void play_member(common& c, tulle::team const& all) {
    std::uint64_t total = 0;
    for (std::uint64_t round = 0; round < phases(c.what); ++round)
        total += collective{c, all, round}.play();
    c.results[static_cast<std::size_t>(all.rank())] = total;
}

// --- trees of activities -------------------------------------------------------------------------

void grow(player::task t, node n) {
    auto& c = t.object<common>();
    for (std::uint64_t k = 0; k < n.children(); ++k) {
        node const child = n.child(k);
        tulle::place const there(
            static_cast<int>(child.seed % static_cast<std::uint64_t>(c.playing.places())));
        if (child.seed % 7 == 0)
            tulle::at(
                there, [](player::task own, node it) { grow(own, it); }, t, child);
        else
            tulle::this_activity::async_at(
                there, [](player::task own, node it) { grow(own, it); }, t, child);
    }
    c.total += n.value();
}

} // namespace

std::uint64_t play_tree(player& of, step const& s) {
    common c(of, s);
    std::vector<tulle::future<void>> trees;
    for (std::uint64_t who = 0; who < helpers(s); ++who)
        trees.push_back(async_here(
            [&of, &s, &c, who] { tulle::finish([&] { grow(of.about(c), root_of(s, who)); }); }));
    for (auto& f : trees) f.get();
    return c.total;
}

// The word is at the place where the step is played; who wants it comes there and waits.
std::uint64_t play_words(player& of, step const& s) {
    queue_size const size(s);
    common c(of, s);
    tulle::feb::empty(c.word);
    std::uint64_t const total =
        sum_of_activities(c, size.producers + size.consumers, [](common& mine, std::uint64_t who) {
            return produce_or_consume(mine, who);
        });
    tulle::feb::fill(c.word);
    return total;
}

std::uint64_t play_team(player& of, step const& s) {
    common c(of, s);
    std::vector<tulle::place> members;
    for (int const p : members_of(s, of.places())) members.emplace_back(p);
    c.results.assign(members.size(), 0);
    c.cells.assign(members.size() * phases(s), 0);
    tulle::team const some(members);
    tulle::finish([&](tulle::activities& all) {
        for (tulle::place const p : members)
            all.async_at(
                p,
                [](player::task t, tulle::team const& own) {
                    play_member(t.object<common>(), own);
                },
                of.about(c), some);
    });
    return c.sum();
}

std::uint64_t play_phases(player& of, step const& s) {
    common c(of, s);
    c.results.assign(helpers(s), 0);
    c.cells.assign(helpers(s) * phases(s), 0);
    tulle::finish([&](tulle::activities& all) {
        auto const k = tulle::clock::make();
        for (std::uint64_t who = 0; who < helpers(s); ++who)
            k.async_at(
                all, tulle::place(s.place(who, of.places())),
                [](tulle::clock own, player::task t, std::uint64_t me) {
                    auto& mine = t.object<common>();
                    mine.results[me] = advance_through(mine, me, own);
                },
                of.about(c), who);
        k.drop();
    });
    return c.sum();
}

std::uint64_t play_local(player& of, step const& s) {
    using counts = tulle::place_local<std::uint64_t>;
    auto const each = counts::make([](std::uint64_t first) { return first; }, s.number);
    tulle::finish([&](tulle::activities& all) {
        for (std::uint64_t who = 0; who < helpers(s); ++who)
            all.async_at(
                tulle::place(s.place(who, of.places())),
                [](counts own, std::uint64_t more) { tulle::atomically([&] { *own += more; }); },
                each, share(s, who));
    });
    std::uint64_t total = 0;
    for (tulle::place const p : tulle::places())
        total += tulle::at(
            p, [](counts own) { return *own; }, each);
    each.destroy();
    return total;
}

// All at one place, each with the number of its turn.
std::uint64_t play_turns(player& of, step const& s) {
    common c(of, s);
    tulle::place const there(s.place(0, of.places()));
    std::uint64_t const count = helpers(s);
    tulle::finish([&](tulle::activities& all) {
        for (std::uint64_t who = 0; who < count; ++who)
            all.async_at(
                there,
                [](player::task t, std::uint64_t me) {
                    auto& mine = t.object<common>();
                    tulle::when([&] { return mine.cells.size() == me; },
                                [&] { mine.cells.push_back(share(mine.what, me)); });
                },
                of.about(c), who);
    });
    return in_order(c.cells);
}

} // namespace soak::over_places

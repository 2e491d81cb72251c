// SPDX-License-Identifier: Apache-2.0
#include "player.hpp"

#include <array>
#include <functional>
#include <optional>
#include <shared_mutex>
#include <vector>

namespace soak {

namespace {

using std::chrono::microseconds;

constexpr std::size_t k_cells = 3;

// A few words, some by address and some as objects.
class cells {
public:
    cells() {
        for (std::uint64_t& w : m_words) tulle::feb::empty(w);
    }
    ~cells() {
        for (std::uint64_t& w : m_words) tulle::feb::fill(w);
    }
    cells(cells const&) = delete;
    cells& operator=(cells const&) = delete;

    void put(std::size_t which, std::uint64_t item) {
        if (which < k_cells)
            tulle::feb::write_ef(m_words[which], item);
        else
            m_objects[which - k_cells].write_ef(item);
    }
    std::uint64_t take(std::size_t which, bool timed) {
        std::uint64_t item = 0;
        auto const try_take = [&](auto patience) {
            auto const got = which < k_cells ? tulle::feb::try_read_fe_for(m_words[which], patience)
                                             : m_objects[which - k_cells].try_read_fe_for(patience);
            item = got.value_or(0);
            return got.has_value();
        };
        if (timed)
            insist(try_take, 10);
        else
            item = which < k_cells ? tulle::feb::read_fe(m_words[which])
                                   : m_objects[which - k_cells].read_fe();
        return item;
    }

private:
    std::array<std::uint64_t, k_cells> m_words{};
    std::array<tulle::full_empty<std::uint64_t>, k_cells> m_objects;
};

std::uint64_t drain(tulle::channel<std::uint64_t>& from, tulle::channel<std::uint64_t>& never,
                    std::uint64_t way) {
    std::uint64_t total = 0;
    for (;;) {
        std::optional<std::uint64_t> item;
        if (way == 0) {
            item = from.receive();
        } else if (way == 1) {
            tulle::channel_status status{};
            insist(
                [&](auto patience) {
                    item = from.receive_for(patience, &status);
                    return status != tulle::channel_status::not_ready;
                },
                10);
        } else {
            tulle::receive_case one(from), other(never);
            static_cast<void>(tulle::select(one, other));
            item = one.item;
        }
        if (!item) return total;
        total += *item;
    }
}

} // namespace

// The items of producer p go through cell p, item after item, to one consumer for each.
std::uint64_t play_words(step const& s) {
    queue_size const size(s);
    cells all;
    std::size_t const first = s.draw(80, k_cells + 1);
    return sum_of_threads(2 * size.producers, [&](std::uint64_t who) {
        std::uint64_t total = 0;
        std::size_t const cell = first + who / 2;
        for (std::uint64_t item = 0; item < size.items; ++item) {
            if (who % 2 == 0)
                all.put(cell, share(s, who / 2, item));
            else
                total += all.take(cell, s.one_in(81 + who, 3));
        }
        return total;
    });
}

std::uint64_t play_channel(step const& s) {
    queue_size const size(s);
    tulle::channel<std::uint64_t> never(1);
    std::uint64_t const room = s.draw(90, 4);
    std::optional<tulle::channel<std::uint64_t>> items;
    room == 3 ? items.emplace(tulle::unbounded) : items.emplace(room);
    std::atomic<std::uint64_t> open{size.producers};
    return sum_of_threads(size.producers + size.consumers, [&](std::uint64_t who) {
        if (who >= size.producers) return drain(*items, never, s.draw(91 + who, 3));
        for (std::uint64_t item = 0; item < size.items; ++item) items->send(share(s, who, item));
        if (open.fetch_sub(1) == 1) items->close();
        return std::uint64_t{0};
    });
}

// As a team, but everyone arrives first and waits afterwards.
std::uint64_t play_phases(step const& s) {
    team_size const size(s);
    tulle::phased_barrier all(static_cast<std::ptrdiff_t>(size.members));
    std::vector<std::uint64_t> cells(size.members * size.phases);
    return sum_of_threads(size.members, [&](std::uint64_t who) {
        std::uint64_t total = 0;
        for (std::uint64_t phase = 0; phase < size.phases; ++phase) {
            std::uint64_t* const row = cells.data() + phase * size.members;
            row[who] = share(s, who, phase);
            auto arrival = all.arrive();
            if (s.one_in(100 + who, 3))
                insist([&](auto patience) { return all.wait_for(arrival, patience); },
                       s.draw(101, 40));
            all.wait(std::move(arrival));
            std::uint64_t seen = 0;
            for (std::uint64_t k = 0; k < size.members; ++k) seen += row[k];
            total += mix(seen, phase);
        }
        return total;
    });
}

std::uint64_t play_futures(step const& s) {
    std::vector<tulle::future<std::uint64_t>> parts;
    for (std::uint64_t who = 0; who < helpers(s); ++who) {
        auto part = tulle::async([&s, who] {
            if (s.one_in(110 + who, 3))
                tulle::this_thread::sleep_for(microseconds(s.draw(111, 40)));
            return share(s, who) - who;
        });
        parts.push_back(
            s.one_in(120 + who, 2)
                ? part.then([who](std::uint64_t value) { return value + who; })
                : tulle::async([p = std::move(part), who]() mutable { return p.get() + who; }));
    }
    auto const add = [](std::vector<tulle::future<std::uint64_t>> all) {
        std::uint64_t total = 0;
        for (auto& f : all) total += f.get();
        return total;
    };
    if (s.one_in(130, 2)) return add(std::move(parts));
    return tulle::when_all(std::move(parts))
        .then([add](std::vector<tulle::future<std::uint64_t>> all) { return add(std::move(all)); })
        .get();
}

// A reader must not see half of what a writer does.
std::uint64_t play_sharing(step const& s) {
    tulle::shared_mutex lock;
    tulle::counting_semaphore<> few(1 + static_cast<std::ptrdiff_t>(s.draw(140, 3)));
    std::uint64_t total = 0, again = 0;
    std::atomic<std::uint64_t> wrong{0};
    static_cast<void>(sum_of_threads(2 * helpers(s), [&](std::uint64_t who) {
        few.acquire();
        if (who % 2 == 0) {
            std::unique_lock const held(lock);
            total += share(s, who / 2);
            if (s.one_in(141 + who, 3)) tulle::this_thread::yield();
            again += share(s, who / 2);
        } else {
            std::shared_lock held(lock, std::defer_lock);
            insist([&held](auto patience) { return held.try_lock_for(patience); }, 10);
            if (total != again) wrong.fetch_add(1);
        }
        few.release();
        return std::uint64_t{0};
    }));
    return total + wrong.load();
}

std::uint64_t play_limited(step const& s) {
    constexpr std::array k_policies{tulle::when_full::run_inline, tulle::when_full::record,
                                    tulle::when_full::block};
    std::atomic<std::uint64_t> total{0};
    tulle::spawn_group group(1 + s.draw(150, 3), k_policies[s.draw(151, k_policies.size())]);
    for (std::uint64_t who = 0; who < helpers(s); ++who) {
        group.spawn([&, who] {
            if (s.one_in(152 + who, 2)) tulle::this_thread::yield();
            total.fetch_add(share(s, who));
        });
    }
    group.join();
    return total.load();
}

// Each waits for what never comes, until all are cancelled, and does its share then.
std::uint64_t play_cancel(step const& s) {
    tulle::latch never(1);
    tulle::channel<int> nothing(1);
    std::uint64_t never_filled = 0;
    tulle::feb::empty(never_filled);
    tulle::cancellation_source source;
    if (s.one_in(160, 2)) source.request_stop_after(microseconds(s.draw(161, 200)));
    std::vector<std::function<bool(tulle::cancellation_token const&)>> const waits{
        [&](auto const& token) { return never.wait(token); },
        [&](auto const& token) { return nothing.receive(token).has_value(); },
        [&](auto const& token) { return tulle::feb::read_fe(never_filled, token).has_value(); }};
    tulle::spawn_group group(helpers(s));
    std::atomic<std::uint64_t> total{0};
    for (std::uint64_t who = 0; who < helpers(s); ++who) {
        group.spawn([&, who] {
            if (!waits[s.draw(162 + who, waits.size())](source.get_token()))
                total.fetch_add(share(s, who));
        });
    }
    if (!s.one_in(160, 2)) source.request_stop();
    group.join();
    tulle::feb::fill(never_filled);
    return total.load();
}

std::uint64_t play_loop(step const& s) {
    std::array const schedules{tulle::schedule::automatic(), tulle::schedule::even(),
                               tulle::schedule::dynamic(1 + s.draw(170, 9)),
                               tulle::schedule::guided(1 + s.draw(171, 9)),
                               tulle::schedule::one_thread_each()};
    std::uint64_t const count = iterations(s);
    std::vector<std::uint64_t> cells(count);
    tulle::parallel_for(
        std::uint64_t{0}, count,
        [&](std::uint64_t i) {
            if (s.one_in(172 + i, 20)) tulle::this_thread::sleep_for(microseconds(s.draw(173, 30)));
            if (s.one_in(174 + i, 20)) tulle::this_thread::yield();
            cells[i] = share(s, i);
        },
        schedules[s.draw(175, schedules.size())]);
    return tulle::parallel_reduce(cells.begin(), cells.end(), std::uint64_t{0}, std::identity{});
}

} // namespace soak

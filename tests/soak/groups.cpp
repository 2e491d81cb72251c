// SPDX-License-Identifier: Apache-2.0
#include "player.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

namespace soak {

namespace {

void meet(tulle::barrier& b, step const& s, std::uint64_t who) {
    if (s.one_in(10 + who, 3))
        insist([&b](auto patience) { return b.arrive_and_wait_for(patience); }, s.draw(20, 60));
    else
        b.arrive_and_wait();
}

// At most three items; the last producer to end closes it.
class bounded_queue {
public:
    explicit bounded_queue(std::uint64_t producers) : m_open(producers) {}

    void put(std::uint64_t item) {
        std::unique_lock held(m_lock);
        m_not_full.wait(held, [this] { return m_items.size() < k_capacity; });
        m_items.push_back(item);
        m_not_empty.notify_one();
    }
    void close_one() {
        std::lock_guard const held(m_lock);
        --m_open;
        m_not_empty.notify_all();
    }
    // False: closed and empty.
    [[nodiscard]] bool take(std::uint64_t& item, bool timed) {
        std::unique_lock held(m_lock);
        auto const ready = [this] { return !m_items.empty() || m_open == 0; };
        if (timed)
            insist([&](auto patience) { return m_not_empty.wait_for(held, patience, ready); }, 10);
        else
            m_not_empty.wait(held, ready);
        if (m_items.empty()) return false;
        item = m_items.back();
        m_items.pop_back();
        m_not_full.notify_one();
        return true;
    }

private:
    static constexpr std::size_t k_capacity = 3;
    tulle::mutex m_lock;
    tulle::condition_variable m_not_full, m_not_empty;
    std::vector<std::uint64_t> m_items;
    std::uint64_t m_open;
};

} // namespace

// Each writes its own cell before the barrier and reads all cells of the phase after it.
std::uint64_t play_team(step const& s) {
    team_size const size(s);
    tulle::barrier all(static_cast<std::int64_t>(size.members));
    std::vector<std::uint64_t> cells(size.members * size.phases);
    return sum_of_threads(size.members, [&](std::uint64_t who) {
        std::uint64_t total = 0;
        for (std::uint64_t phase = 0; phase < size.phases; ++phase) {
            std::uint64_t* const row = cells.data() + phase * size.members;
            row[who] = share(s, who, phase);
            meet(all, s, who);
            std::uint64_t seen = 0;
            for (std::uint64_t k = 0; k < size.members; ++k) seen += row[k];
            total += mix(seen, phase);
        }
        return total;
    });
}

std::uint64_t play_queue(step const& s) {
    queue_size const size(s);
    bounded_queue queue(size.producers);
    return sum_of_threads(size.producers + size.consumers, [&](std::uint64_t who) {
        std::uint64_t total = 0;
        std::uint64_t item = 0;
        if (who >= size.producers) {
            while (queue.take(item, s.one_in(30 + who, 3))) total += item;
            return total;
        }
        for (; item < size.items; ++item) queue.put(share(s, who, item));
        queue.close_one();
        return total;
    });
}

std::uint64_t play_signal(step const& s) {
    std::uint64_t const count = helpers(s);
    std::vector<std::uint64_t> cells(count);
    tulle::signal done(static_cast<std::uint32_t>(count));
    for (std::uint64_t who = 0; who < count; ++who) {
        tulle::spawn_detached([&, who] {
            if (s.one_in(40 + who, 3)) tulle::this_thread::yield();
            cells[who] = share(s, who);
            done.notify();
        });
    }
    if (s.one_in(50, 3))
        insist([&done](auto patience) { return done.wait_for(patience); }, s.draw(51, 60));
    else
        done.wait();
    std::uint64_t total = 0;
    for (std::uint64_t const cell : cells) total += cell;
    return total;
}

// Nobody reads before all have written.
std::uint64_t play_latch(step const& s) {
    std::uint64_t const count = helpers(s);
    std::vector<std::uint64_t> cells(count);
    tulle::latch written(static_cast<std::int64_t>(count));
    std::vector<std::uint64_t> seen(count);
    static_cast<void>(sum_of_threads(count, [&](std::uint64_t who) {
        cells[who] = share(s, who);
        if (s.one_in(60 + who, 2)) {
            written.arrive_and_wait();
        } else {
            written.count_down();
            insist([&written](auto patience) { return written.wait_for(patience); }, 10);
        }
        for (std::uint64_t const cell : cells) seen[who] += cell;
        return seen[who];
    }));
    bool const agree = std::equal(seen.begin() + 1, seen.end(), seen.begin());
    return agree ? seen[0] : 0;
}

// The first that does it may fail, then another one has to.
std::uint64_t play_once(step const& s) {
    tulle::once_flag flag;
    std::uint64_t value = 0;
    std::atomic<bool> fails{s.one_in(70, 2)};
    std::atomic<std::uint64_t> wrong{0};
    static_cast<void>(sum_of_threads(helpers(s), [&](std::uint64_t) {
        for (bool done = false; !done;) {
            try {
                tulle::call_once(flag, [&] {
                    tulle::this_thread::yield();
                    if (fails.exchange(false)) throw 1;
                    value += s.number;
                });
                done = true;
            } catch (int) {}
        }
        if (value != s.number) wrong.fetch_add(1);
        return std::uint64_t{0};
    }));
    return value + wrong.load();
}

} // namespace soak

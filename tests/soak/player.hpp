// SPDX-License-Identifier: Apache-2.0
//
// Runs a program on Tulle's threads.
#pragma once

#include "program.hpp"

#include <tulle/tulle.hpp>

#include <atomic>
#include <chrono>
#include <mutex>

namespace soak {

class player {
public:
    [[nodiscard]] result run(body const& program);

private:
    using threads = std::vector<tulle::thread<std::uint64_t>>;
    // A body's exception carries its value.
    struct carried {
        std::uint64_t value;
    };

    [[nodiscard]] std::uint64_t run_or_throw(body const& b);
    [[nodiscard]] outcome run_caught(body const& b);
    template <class Join> [[nodiscard]] static outcome catch_outcome(Join join);
    [[nodiscard]] std::uint64_t play(step const& s, std::uint64_t value, threads& left);

    void add(step const& s);
    void add_locked(step const& s);
    void spawn(step const& s, threads& left);
    [[nodiscard]] static std::uint64_t join(step const& s, std::uint64_t value, threads& left);
    void detach(step const& s);
    [[nodiscard]] std::uint64_t fork(step const& s, std::uint64_t value);
    [[nodiscard]] std::uint64_t scope(step const& s, std::uint64_t value);
    [[nodiscard]] std::uint64_t foreign(step const& s, std::uint64_t value);

    tulle::mutex m_locks[k_counters];
    std::uint64_t m_counters[k_counters] = {}; // each guarded by its lock
    tulle::signal m_detached_left;
    std::atomic<std::uint64_t> m_detached{0};
};

// A wait with time-outs that grow: who withdraws stays longer the next time, and a time-out of
// nothing would not let others run.
template <class Wait> void insist(Wait wait, std::uint64_t first_us) {
    for (auto patience = std::chrono::microseconds(1 + first_us); !wait(patience);) patience *= 2;
}

// Runs work(who) in as many threads, and adds up what they return.
template <class Work> std::uint64_t sum_of_threads(std::uint64_t count, Work work) {
    std::vector<tulle::thread<std::uint64_t>> threads;
    for (std::uint64_t who = 0; who < count; ++who)
        threads.push_back(tulle::spawn([&work, who] { return work(who); }));
    std::uint64_t total = 0;
    for (auto& t : threads) total += t.join();
    return total;
}

// Steps made of several threads (groups.cpp).
[[nodiscard]] std::uint64_t play_team(step const& s);
[[nodiscard]] std::uint64_t play_queue(step const& s);
[[nodiscard]] std::uint64_t play_signal(step const& s);
[[nodiscard]] std::uint64_t play_latch(step const& s);
[[nodiscard]] std::uint64_t play_once(step const& s);
// The same, with words, channels, futures and loops (patterns.cpp).
[[nodiscard]] std::uint64_t play_words(step const& s);
[[nodiscard]] std::uint64_t play_channel(step const& s);
[[nodiscard]] std::uint64_t play_phases(step const& s);
[[nodiscard]] std::uint64_t play_futures(step const& s);
[[nodiscard]] std::uint64_t play_sharing(step const& s);
[[nodiscard]] std::uint64_t play_limited(step const& s);
[[nodiscard]] std::uint64_t play_cancel(step const& s);
[[nodiscard]] std::uint64_t play_loop(step const& s);

} // namespace soak

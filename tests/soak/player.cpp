// SPDX-License-Identifier: Apache-2.0
#include "player.hpp"

#include <thread>

namespace soak {

namespace {

using std::chrono::microseconds;

struct give_up {};

tulle::attributes way_of(step const& s) {
    tulle::attributes how;
    how.child_first = s.one_in(2, 3);
    if (s.one_in(3, 4)) how.stack_size = std::size_t{128} << 10U;
    if (s.one_in(4, 8)) how.name = "soak";
    if (s.one_in(5, 6))
        how.shepherd =
            static_cast<int>(s.draw(6, static_cast<std::uint64_t>(tulle::shepherd_count())));
    return how;
}

} // namespace

template <class Join> outcome player::catch_outcome(Join join) {
    try {
        return {join(), false};
    } catch (carried const& c) {
        tulle::this_thread::yield(); // the handler may go on on another worker
        return {c.value, true};
    }
}

result player::run(body const& program) {
    result r;
    r.root = run_caught(program);
    m_detached_left.wait();
    for (std::size_t k = 0; k < k_counters; ++k) {
        std::lock_guard const held(m_locks[k]);
        r.counters[k] = m_counters[k];
    }
    r.detached = m_detached.load();
    return r;
}

std::uint64_t player::run_or_throw(body const& b) {
    std::uint64_t value = b.steps.size();
    threads left;
    for (step const& s : b.steps) value = play(s, value, left);
    for (auto& t : left) value = mix(value, catch_outcome([&t] { return t.join(); }));
    if (b.throws) throw carried{value};
    return value;
}

outcome player::run_caught(body const& b) {
    return catch_outcome([this, &b] { return run_or_throw(b); });
}

std::uint64_t player::play(step const& s, std::uint64_t value, threads& left) {
    switch (s.what) {
        case act::yield: tulle::this_thread::yield(); return value;
        case act::sleep: tulle::this_thread::sleep_for(microseconds(s.draw(1, 100))); return value;
        case act::add: add(s); return value;
        case act::spawn: spawn(s, left); return value;
        case act::join: return join(s, value, left);
        case act::fork: return fork(s, value);
        case act::scope: return scope(s, value);
        case act::detach: detach(s); return value;
        case act::foreign: return foreign(s, value);
        case act::team: return mix(value, play_team(s));
        case act::queue: return mix(value, play_queue(s));
        case act::signal: return mix(value, play_signal(s));
        case act::latch: return mix(value, play_latch(s));
        case act::once: return mix(value, play_once(s));
        case act::words: return mix(value, play_words(s));
        case act::channel: return mix(value, play_channel(s));
        case act::phases: return mix(value, play_phases(s));
        case act::futures: return mix(value, play_futures(s));
        case act::sharing: return mix(value, play_sharing(s));
        case act::limited: return mix(value, play_limited(s));
        case act::cancel: return mix(value, play_cancel(s));
        case act::loop: return mix(value, play_loop(s));
    }
    return value;
}

void player::add(step const& s) {
    try {
        add_locked(s);
    } catch (give_up const&) {} // the mutex is free again
}

void player::add_locked(step const& s) {
    std::size_t const which = s.draw(1, k_counters);
    std::unique_lock held(m_locks[which], std::defer_lock);
    if (s.one_in(2, 4))
        insist([&held](auto patience) { return held.try_lock_for(patience); }, s.draw(3, 50));
    else
        held.lock();
    std::uint64_t const seen = m_counters[which];
    if (s.one_in(4, 3)) tulle::this_thread::yield();
    if (s.one_in(5, 10)) tulle::this_thread::sleep_for(microseconds(s.draw(6, 30)));
    m_counters[which] = seen + s.number;
    if (s.one_in(7, 5)) throw give_up{};
}

void player::spawn(step const& s, threads& left) {
    left.push_back(tulle::spawn(way_of(s), [this, &b = s.children[0]] { return run_or_throw(b); }));
}

std::uint64_t player::join(step const& s, std::uint64_t value, threads& left) {
    if (left.empty()) return value;
    auto const chosen = chosen_of(s, left);
    if (s.one_in(2, 3))
        insist([&chosen](auto patience) { return chosen->join_for(patience); }, s.draw(3, 80));
    value = mix(value, catch_outcome([&chosen] { return chosen->join(); }));
    left.erase(chosen);
    return value;
}

void player::detach(step const& s) {
    m_detached_left.add_signalers(1);
    tulle::spawn_detached(way_of(s), [this, &b = s.children[0]] {
        m_detached.fetch_add(run_caught(b).value);
        m_detached_left.notify();
    });
}

// Joined in the order of forking, or in reverse.
std::uint64_t player::fork(step const& s, std::uint64_t value) {
    auto const start = [&](std::size_t k) {
        return tulle::fork([this, &s, k] {
            return k < s.children.size() ? run_or_throw(s.children[k]) : std::uint64_t{0};
        });
    };
    auto first = start(0);
    auto second = start(1);
    auto third = start(2);
    outcome results[3];
    auto const take = [&](std::size_t k, auto& child) {
        results[k] = catch_outcome([&child] { return child.join(); });
    };
    bool const reverse = s.one_in(1, 2);
    if (!reverse) take(0, first);
    if (!reverse) take(1, second);
    take(2, third);
    if (reverse) take(1, second);
    if (reverse) take(0, first);
    for (std::size_t k = 0; k < s.children.size(); ++k) value = mix(value, results[k]);
    return value;
}

std::uint64_t player::scope(step const& s, std::uint64_t value) {
    std::vector<outcome> results(s.children.size());
    tulle::scope children;
    for (std::size_t k = 0; k < results.size(); ++k)
        children.spawn([&, k] { results[k] = run_caught(s.children[k]); });
    children.join();
    for (outcome const& o : results) value = mix(value, o);
    return value;
}

// The latch is what the thread waits for: joining an OS thread would keep the worker from its other
// threads.
std::uint64_t player::foreign(step const& s, std::uint64_t value) {
    outcome of_child;
    tulle::latch done(1);
    std::thread other([&] {
        of_child = run_caught(s.children[0]);
        done.count_down();
    });
    done.wait();
    other.join();
    return mix(value, of_child);
}

} // namespace soak

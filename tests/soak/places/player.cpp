// SPDX-License-Identifier: Apache-2.0
#include "player.hpp"

#include <cinttypes>
#include <cstdio>
#include <mutex>
#include <numeric>
#include <optional>
#include <stdexcept>

namespace soak::over_places {

namespace {

using std::chrono::microseconds;
using lock_mode = tulle::global_mutex::mode;

constexpr lock_mode k_modes[k_mutexes] = {lock_mode::contention_sensitive, lock_mode::plain,
                                          lock_mode::hierarchical};

// Arrives by its name only.
struct own_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// An exception carries the value as its text, sometimes with more than fits into a message.
[[noreturn]] void throw_value(std::uint64_t value, std::uint64_t number) {
    std::string const text = std::to_string(value) + std::string(number % 5 == 0 ? 6000 : 1, ' ');
    switch (number % 3) {
        case 0: throw std::out_of_range(text);
        case 1: throw std::system_error(1, std::generic_category(), text);
        default: throw own_error(text);
    }
}

std::uint64_t value_of(std::exception const& e) { return std::strtoull(e.what(), nullptr, 10); }

template <class F> outcome catch_outcome(F f) {
    try {
        return {f(), false};
    } catch (std::exception const& e) {
        tulle::this_thread::yield(); // the handler may go on on another worker
        return {value_of(e), true};
    }
}

void add_by_exchange(tulle::global_ptr<std::uint64_t> word, std::uint64_t operand) {
    for (std::uint64_t seen = 0; !tulle::compare_exchange(word, seen, seen + operand);)
        tulle::this_thread::yield();
}

} // namespace

player::player(int places) : m_places(places) {
    for (std::size_t k = 0; k < k_words; ++k) {
        m_words[k] =
            tulle::allocate_global_at<std::uint64_t>(tulle::place(static_cast<int>(k) % places));
        m_words[k].store(0);
    }
    for (std::size_t k = 0; k < k_mutexes; ++k)
        m_mutexes.push_back(
            tulle::global_mutex::make(tulle::place(static_cast<int>(k + 1) % places), k_modes[k]));
}

player::~player() {
    for (auto const& m : m_mutexes) m.destroy();
    for (auto const word : m_words) tulle::free_global(word);
}

void player::require(bool condition, char const* sentence) {
    if (condition) return;
    std::printf("WRONG at place %d: %s\n", tulle::here().index(), sentence);
    ++m_wrong;
}

result player::run(body const& program) {
    result r;
    r.root = catch_outcome([&] { return run_or_throw(program); });
    for (std::size_t k = 0; k < k_words; ++k) r.words[k] = m_words[k].load();
    for (std::size_t k = 0; k < k_mutexes; ++k) {
        std::lock_guard const held(m_mutexes[k]);
        r.counters[k] = m_counters[k];
    }
    require(tulle::global_allocations().size() == k_words, "something is left in global memory");
    r.wrong = m_wrong;
    return r;
}

std::uint64_t player::run_or_throw(body const& b) {
    std::uint64_t value = b.steps.size();
    futures left;
    for (step const& s : b.steps) value = play(s, value, left);
    for (auto& f : left) value = mix(value, f.get());
    if (b.throws) throw_value(value, b.number);
    return value;
}

// At the other end of a call.
player::answer player::serve(body const& b, int place, bytes const& load) {
    require(tulle::here().index() == place, "a call runs somewhere else");
    require(load == load_of(b.number), "an argument is not what was sent");
    return {run_or_throw(b), load_of(~b.number)};
}

void player::run_activity(body const& b) {
    outcome const o = catch_outcome([&] { return run_or_throw(b); });
    b.end = o;
    if (o.threw) throw_value(o.value, b.number);
}

std::uint64_t player::play(step const& s, std::uint64_t value, futures& left) {
    switch (s.what) {
        case act::yield: tulle::this_thread::yield(); return value;
        case act::sleep: tulle::this_thread::sleep_for(microseconds(s.draw(1, 100))); return value;
        case act::add: add(s); return value;
        case act::lock: lock(s); return value;
        case act::call: return mix(value, call(s));
        case act::later: left.push_back(begin(s)); return value;
        case act::take: return take(s, value, left);
        case act::finish: return finish(s, value);
        case act::activity: {
            auto around = tulle::this_activity::siblings();
            start(around, s, 0);
            return value;
        }
        case act::tree: return mix(value, play_tree(*this, s));
        case act::memory: return mix(value, play_memory(*this, s));
        case act::words: return mix(value, play_words(*this, s));
        case act::ilets: return mix(value, play_ilets(*this, s));
        case act::team: return mix(value, play_team(*this, s));
        case act::phases: return mix(value, play_phases(*this, s));
        case act::local: return mix(value, play_local(*this, s));
        case act::turns: return mix(value, play_turns(*this, s));
    }
    return value;
}

void player::add(step const& s) {
    auto const word = m_words[s.draw(1, k_words)];
    if (s.one_in(2, 3))
        add_by_exchange(word, s.number);
    else
        tulle::fetch_add(word, s.number);
}

void player::lock(step const& s) {
    std::size_t const which = s.draw(1, k_mutexes);
    std::lock_guard const held(m_mutexes[which]);
    std::uint64_t const seen = m_counters[which];
    if (s.one_in(2, 3)) tulle::this_thread::yield();
    if (s.one_in(3, 10)) tulle::this_thread::sleep_for(microseconds(s.draw(4, 30)));
    m_counters[which] = seen + s.number;
}

outcome player::call(step const& s) {
    body const& b = s.children[0];
    int const where = s.place(0, m_places);
    return catch_outcome([&] {
        answer const got = tulle::at(
            tulle::place(where),
            [](task t, int place, bytes const& load) {
                return t.who().serve(t.object<body const>(), place, load);
            },
            about(b), where, load_of(b.number));
        require(got.load == load_of(~b.number), "a result is not what was returned");
        return got.value;
    });
}

tulle::future<outcome> player::begin(step const& s) {
    return async_here([this, &s] { return call(s); });
}

std::uint64_t player::take(step const& s, std::uint64_t value, futures& left) {
    if (left.empty()) return value;
    auto const chosen = chosen_of(s, left);
    value = mix(value, chosen->get());
    left.erase(chosen);
    return value;
}

std::uint64_t player::finish(step const& s, std::uint64_t value) {
    std::vector<std::uint64_t> thrown;
    auto const all_of_them = [&] {
        tulle::finish([&](tulle::activities& all) {
            for (std::size_t k = 1; k < s.children.size(); ++k) start(all, s, k);
            run_activity(s.children[0]);
        });
    };
    try {
        if (s.one_in(3, 3))
            tulle::finish(tulle::cancellation_token(), all_of_them); // which it could cancel
        else
            all_of_them();
    } catch (tulle::exception_list const& several) {
        for (auto const& one : several.all())
            thrown.push_back(
                catch_outcome([&]() -> std::uint64_t { std::rethrow_exception(one); }).value);
    } catch (std::exception const& e) {
        thrown.push_back(value_of(e));
    }
    compare_thrown(s, std::move(thrown));
    return settle(s, value);
}

void player::start(tulle::activities& all, step const& s, std::size_t k) {
    int const where = s.place(k, m_places);
    all.async_at(
        tulle::place(where),
        [](task t, int place, bytes const& load) {
            auto const& b = t.object<body const>();
            t.who().require(tulle::here().index() == place, "an activity runs somewhere else");
            t.who().require(load == load_of(b.number),
                            "an activity's argument is not what was sent");
            t.who().run_activity(b);
        },
        about(s.children[k]), where, load_of(s.children[k].number));
}

// Each exception of an activity has come, once.
void player::compare_thrown(step const& s, std::vector<std::uint64_t> thrown) {
    std::vector<std::uint64_t> expected;
    visit_activities_of(s, [&expected](body const& b) {
        if (b.end.threw) expected.push_back(b.end.value);
    });
    std::sort(thrown.begin(), thrown.end());
    std::sort(expected.begin(), expected.end());
    require(thrown == expected, "the exceptions of a finish are not those of its activities");
}

} // namespace soak::over_places

// SPDX-License-Identifier: Apache-2.0
//
// What docs/design.md says of the consistency of global memory, as litmus tests: threads of several
// places read and write words that lie at others, over networks on which messages come late and out
// of order; outcomes that are forbidden must not come out. The last one does what is not allowed,
// and must be seen to go wrong.
#include "loopback_places.hpp"
#include "named_network.hpp"

#include <tulle/global_memory.hpp>
#include <tulle/runtime.hpp>
#include <tulle/this_thread.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace {

using tulle::global_ptr;

constexpr int k_tries = 60;
constexpr int k_places = 4;

// A word for each try, at one place.
using words = global_ptr<std::int64_t>;

std::int64_t get(words p) { return tulle::fetch_add(p, 0); }
void put(words p, std::int64_t value) { tulle::exchange(p, value); }
std::int64_t read_plainly(words p) {
    std::int64_t value = 0;
    tulle::read(p, std::span(&value, 1));
    return value;
}
void write_plainly(words p, std::int64_t value) {
    tulle::write(std::span<std::int64_t const>(&value, 1), p);
}

class litmus_test : public testing::TestWithParam<named_network> {
protected:
    void SetUp() override {
        tulle::initialize({.workers = 2});
        m_places.emplace(k_places, GetParam().options, loopback_settings{});
        m_x = make(2);
        m_y = make(3);
        for (words& result : m_results) result = make(0);
    }
    void TearDown() override {
        for (words const all : m_made) tulle::free_global(all);
        m_places.reset();
        tulle::finalize();
    }

    // Thread t runs at place t: body(x, y, its first result, its second), once for each try.
    template <class... Body> void run(Body... bodies) {
        tulle::finish([&](tulle::activities& all) {
            int place = 0;
            (start(all, place++, bodies), ...);
        });
    }
    // How often results came out like that.
    [[nodiscard]] int count(std::function<bool(std::array<std::int64_t, 8> const&)> const& is_so) {
        int found = 0;
        for (int k = 0; k < k_tries; ++k) {
            std::array<std::int64_t, 8> r{};
            for (std::size_t i = 0; i < r.size(); ++i) r[i] = (m_results[i] + k).load();
            found += is_so(r) ? 1 : 0;
        }
        return found;
    }

private:
    template <class Body> void start(tulle::activities& all, int place, Body body) {
        auto const first = 2 * static_cast<std::size_t>(place);
        all.async_at(
            tulle::place(place),
            [](Body own, words x, words y, words a, words b) {
                for (int k = 0; k < k_tries; ++k) {
                    own(x + k, y + k, a + k, b + k);
                    tulle::this_thread::yield();
                }
            },
            body, m_x, m_y, m_results[first], m_results[first + 1]);
    }
    words make(int place) {
        words const all = tulle::allocate_global_at<std::int64_t>(tulle::place(place), k_tries);
        std::vector<std::int64_t> const zeros(k_tries, 0);
        tulle::write(std::span(zeros), all);
        m_made.push_back(all);
        return all;
    }

    std::optional<loopback_places> m_places;
    std::vector<words> m_made;
    words m_x{};
    words m_y{};
    std::array<words, 8> m_results{};
};

named_network const k_very_late{"very_late",
                                {.seed = 11, .most_delay = 100, .shares_segments = false}};

INSTANTIATE_TEST_SUITE_P(
    networks, litmus_test,
    testing::Values(named_network{"direct"}, named_network{"messages", {.shares_segments = false}},
                    named_network{"late", {.seed = 7, .shares_segments = false}}, k_very_late),
    network_name);

TEST_P(litmus_test, what_is_written_is_there_before_what_follows_it) { // message passing
    run(
        [](words x, words y, words, words) {
            write_plainly(x, 1);
            put(y, 1);
        },
        [](words x, words y, words a, words b) {
            if (get(y) == 0) return;
            write_plainly(a, 1);
            write_plainly(b, read_plainly(x));
        });
    EXPECT_EQ(count([](auto const& r) { return r[2] == 1 && r[3] == 0; }), 0);
}

TEST_P(litmus_test, atomic_operations_have_one_order) { // store buffering
    run(
        [](words x, words y, words a, words) {
            put(x, 1);
            write_plainly(a, get(y));
        },
        [](words x, words y, words a, words) {
            put(y, 1);
            write_plainly(a, get(x));
        });
    EXPECT_EQ(count([](auto const& r) { return r[0] == 0 && r[2] == 0; }), 0);
}

TEST_P(litmus_test, all_see_atomic_operations_in_the_same_order) { // independent reads and writes
    run([](words x, words, words, words) { put(x, 1); },
        [](words, words y, words, words) { put(y, 1); },
        [](words x, words y, words a, words b) {
            write_plainly(a, get(x));
            write_plainly(b, get(y));
        },
        [](words x, words y, words a, words b) {
            write_plainly(a, get(y));
            write_plainly(b, get(x));
        });
    EXPECT_EQ(count([](auto const& r) { return r[4] == 1 && r[5] == 0 && r[6] == 1 && r[7] == 0; }),
              0);
}

TEST_P(litmus_test, what_one_has_seen_the_next_sees) { // write to read causality
    run([](words x, words, words, words) { put(x, 1); },
        [](words x, words y, words, words) {
            if (get(x) == 1) put(y, 1);
        },
        [](words x, words y, words a, words b) {
            write_plainly(a, get(y));
            write_plainly(b, get(x));
        });
    EXPECT_EQ(count([](auto const& r) { return r[4] == 1 && r[5] == 0; }), 0);
}

TEST_P(litmus_test, a_word_does_not_go_back) { // coherence
    run(
        [](words x, words, words, words) {
            put(x, 1);
            put(x, 2);
        },
        [](words x, words, words a, words b) {
            write_plainly(a, get(x));
            write_plainly(b, get(x));
        });
    EXPECT_EQ(count([](auto const& r) { return r[2] > r[3]; }), 0);
}

TEST_P(litmus_test, a_thread_sees_what_it_has_written) {
    run([](words x, words, words a, words b) {
        write_plainly(x, 1);
        write_plainly(a, read_plainly(x));
        write_plainly(x, 2);
        write_plainly(b, get(x));
    });
    EXPECT_EQ(count([](auto const& r) { return r[0] == 1 && r[1] == 2; }), k_tries);
}

TEST_P(litmus_test, what_is_written_is_there_in_calls_that_follow) {
    run([](words x, words, words a, words) {
        write_plainly(x, 1);
        write_plainly(a, tulle::at(
                             tulle::place(1), [](words of) { return read_plainly(of); }, x));
    });
    EXPECT_EQ(count([](auto const& r) { return r[0] == 1; }), k_tries);
}

class litmus_of_late_messages : public litmus_test {};

INSTANTIATE_TEST_SUITE_P(networks, litmus_of_late_messages, testing::Values(k_very_late),
                         network_name);

// Until its future is ready, a write that nobody waits for is anywhere.
TEST_P(litmus_of_late_messages, what_is_not_waited_for_is_seen_late) {
    run([](words x, words, words a, words) {
        std::int64_t const one = 1;
        auto written = tulle::write_async(std::span<std::int64_t const>(&one, 1), x);
        write_plainly(a, read_plainly(x));
        written.get();
    });
    EXPECT_GT(count([](auto const& r) { return r[0] == 0; }), 0);
}

} // namespace

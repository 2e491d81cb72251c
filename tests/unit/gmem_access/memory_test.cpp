// SPDX-License-Identifier: Apache-2.0
//
// Global memory over virtual networks of this process: with loads and stores to all segments, and
// by messages that come late and out of order.
#include "base/rng.hpp"
#include "loopback_places.hpp"
#include "named_network.hpp"

#include <tulle/at_home.hpp>
#include <tulle/channel.hpp>
#include <tulle/global_memory.hpp>
#include <tulle/runtime.hpp>
#include <tulle/this_thread.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <concepts>
#include <cstdint>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

// The forms of functions that refuse numbers for places are in the way of nobody else's.
namespace of_program {

template <class T> T at(std::size_t, tulle::global_array<T> const&);
bool async_at(int worker, tulle::channel<int>& from);

template <class Array, class Channel>
concept are_called = requires(Array a, Channel c) {
    { at(std::size_t{1}, a) } -> std::same_as<int>;
    { async_at(1, c) } -> std::same_as<bool>;
    tulle::make_global<std::int64_t, int>(tulle::place(0), 5);
};
static_assert(are_called<tulle::global_array<int>&, tulle::channel<int>&>);

template <class P>
concept can_call_at = requires(P p) {
    tulle::at(p, [] { return 0; });
};
static_assert(can_call_at<tulle::place> && !can_call_at<int>);

} // namespace of_program

namespace {

using tulle::global_ptr;
using tulle::gmem::algorithm;
using tulle::gmem_access::memory_settings;
using tulle::net::loopback_options;

constexpr std::size_t k_each = 1U << 20U; // bytes of a segment

struct memory_network : named_network {
    tulle::net::rank group = 0;
    algorithm how = algorithm::first_fit;
    refusals refused{};

    [[nodiscard]] memory_settings settings() const { return {4 * k_each, group, how, false}; }
};

class global_memory_test : public testing::TestWithParam<memory_network> {
protected:
    void SetUp() override {
        tulle::initialize({.workers = 2});
        m_places.emplace(
            4, GetParam().options,
            loopback_settings{.memory = GetParam().settings(), .refused = GetParam().refused});
    }
    void TearDown() override {
        m_places.reset();
        tulle::finalize();
    }
    [[nodiscard]] static bool is_direct() { return GetParam().options.shares_segments; }
    [[nodiscard]] static tulle::net::rank group() {
        return GetParam().group == 0 ? 4 : GetParam().group;
    }

    std::optional<loopback_places> m_places;
};

INSTANTIATE_TEST_SUITE_P(
    networks, global_memory_test,
    testing::Values(
        memory_network{{"direct"}}, memory_network{{"direct_groups"}, 2, algorithm::round_robin},
        memory_network{{"messages", {.shares_segments = false}}},
        memory_network{{"late", {.seed = 7, .shares_segments = false}}, 2, algorithm::best_fit},
        memory_network{{"very_late", {.seed = 11, .most_delay = 100, .shares_segments = false}},
                       1,
                       algorithm::buddy},
        memory_network{{"small", {.seed = 3, .most_bytes = 512, .shares_segments = false}},
                       3,
                       algorithm::round_robin},
        memory_network{{"narrow", {.most_waiting = 3, .shares_segments = false}}},
        memory_network{{"refusing", {.seed = 5, .shares_segments = false}},
                       2,
                       algorithm::first_fit,
                       {.seed = 1, .sends = 30}}),
    network_name);

template <class T> std::vector<T> pattern(std::size_t n, T first = T{1}) {
    std::vector<T> all(n);
    std::iota(all.begin(), all.end(), first);
    return all;
}

// --- addresses -----------------------------------------------------------------------------------

TEST_P(global_memory_test, each_place_has_a_segment) {
    for (auto const p : tulle::places()) {
        auto const made = tulle::allocate_global_at<int>(p, 10);
        EXPECT_EQ(made.home(), p);
        EXPECT_EQ((made + 9).home(), p);
        EXPECT_EQ(made.local() != nullptr, is_direct() || p.index() == 0);
        EXPECT_EQ(tulle::at(
                      p, [](auto q) { return q.local() != nullptr; }, made),
                  true);
        tulle::free_global(made);
    }
}

TEST_P(global_memory_test, wrong_addresses_are_refused_where_they_are_used) {
    auto const made = tulle::allocate_global<std::uint64_t>(1);
    auto const far = global_ptr<std::uint64_t>::at(made.address() + 64 * k_each);
    auto const odd = global_ptr<std::uint64_t>::at(made.address() + 4);
    global_ptr<std::uint64_t> const null;
    EXPECT_THROW(static_cast<void>(far.load()), std::out_of_range);
    EXPECT_THROW(far.store(1), std::out_of_range);
    EXPECT_THROW(static_cast<void>(far.home()), std::out_of_range);
    EXPECT_THROW(tulle::fetch_add(far, 1), std::out_of_range);
    EXPECT_THROW(static_cast<void>(null.load()), std::invalid_argument);
    EXPECT_THROW(tulle::exchange(null, 1), std::invalid_argument);
    EXPECT_THROW(tulle::fetch_add(odd, 1), std::invalid_argument);
    std::uint64_t expected = 0;
    EXPECT_THROW(tulle::compare_exchange(odd, expected, 1), std::invalid_argument);
    std::vector<std::uint64_t> many(4 * k_each / 8 + 1);
    EXPECT_THROW(tulle::read(made, std::span(many)), std::invalid_argument); // more than there is
    many.pop_back();
    EXPECT_THROW(tulle::read(made + 1, std::span(many)), std::out_of_range);
    tulle::read(made, std::span<std::uint64_t>());
    tulle::free_global(made);
    tulle::free_global(null);
}

// --- allocation ----------------------------------------------------------------------------------

TEST_P(global_memory_test, allocations_do_not_overlap_and_keep_what_is_written) {
    struct part {
        global_ptr<std::uint32_t> at;
        std::uint32_t size;
        std::uint32_t mark;
    };
    std::vector<part> live;
    tulle::base::rng random(5);
    for (std::uint32_t step = 1; step <= 300; ++step) {
        if (live.empty() || random.below(5) < 3) {
            std::uint32_t const size = 1 + random.below(random.below(10) == 0 ? 5000 : 100);
            tulle::place const who(static_cast<int>(random.below(4)));
            auto const at = tulle::at(
                who, [](std::uint32_t n) { return tulle::allocate_global<std::uint32_t>(n); },
                size);
            tulle::write(std::span<std::uint32_t const>(pattern(size, step)), at);
            live.push_back({at, size, step});
        } else {
            std::swap(live[random.below(static_cast<std::uint32_t>(live.size()))], live.back());
            std::vector<std::uint32_t> got(live.back().size);
            tulle::read(live.back().at, std::span(got));
            ASSERT_EQ(got, pattern(live.back().size, live.back().mark));
            tulle::place const who(static_cast<int>(random.below(4)));
            tulle::at(
                who, [](auto p) { tulle::free_global(p); }, live.back().at);
            live.pop_back();
        }
    }
    EXPECT_EQ(tulle::global_allocations().size(), live.size());
    for (auto const& one : live) tulle::free_global(one.at);
    EXPECT_TRUE(tulle::global_allocations().empty());
}

TEST_P(global_memory_test, what_is_freed_twice_or_was_never_allocated_is_refused) {
    auto const made = tulle::at(tulle::place(3), [] { return tulle::allocate_global<char>(1000); });
    EXPECT_THROW(tulle::free_global(made + 64), std::invalid_argument);
    EXPECT_THROW(tulle::free_global(global_ptr<char>::at(64)), std::out_of_range);
    tulle::free_global(made);
    try {
        tulle::free_global(made);
        ADD_FAILURE();
    } catch (std::invalid_argument const& e) {
        EXPECT_NE(std::string(e.what()).find("freed"), std::string::npos);
    }
    EXPECT_THROW(tulle::at(
                     tulle::place(2), [](auto p) { tulle::free_global(p); }, made),
                 std::invalid_argument);
}

TEST_P(global_memory_test, what_does_not_fit_goes_to_the_next_group) {
    std::vector<global_ptr<char>> all;
    std::set<int> homes;
    for (int k = 0; k < 16; ++k) {
        all.push_back(tulle::allocate_global<char>(k_each / 4));
        homes.insert(all.back().home().index());
    }
    EXPECT_EQ(homes, (std::set<int>{0, 1, 2, 3}));
    EXPECT_THROW(static_cast<void>(tulle::allocate_global<char>(1)), tulle::out_of_global_memory);
    EXPECT_THROW(static_cast<void>(tulle::allocate_global_at<char>(tulle::place(2))),
                 tulle::out_of_global_memory);
    for (auto const p : all) tulle::free_global(p);
    EXPECT_THROW(static_cast<void>(tulle::allocate_global<char>(4 * k_each + 1)),
                 tulle::out_of_global_memory);
    EXPECT_THROW(static_cast<void>(tulle::allocate_global<std::uint64_t>(~std::size_t{0} / 4)),
                 tulle::out_of_global_memory);
    EXPECT_THROW(static_cast<void>(tulle::allocate_global<char>(0)), std::invalid_argument);
}

TEST_P(global_memory_test, an_allocation_comes_from_the_callers_group_first) {
    for (auto const p : tulle::places()) {
        auto const made = tulle::at(p, [] { return tulle::allocate_global<char>(1); });
        EXPECT_EQ(static_cast<tulle::net::rank>(made.home().index()) / group(),
                  static_cast<tulle::net::rank>(p.index()) / group());
        tulle::free_global(made);
    }
}

TEST_P(global_memory_test, says_who_has_allocated_what) {
    auto const a = tulle::at(tulle::place(1), [] { return tulle::allocate_global<char>(70); });
    auto const b = tulle::allocate_global_at<char>(tulle::place(3), 5);
    auto const all = tulle::global_allocations();
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].address, a.address());
    EXPECT_EQ(all[0].bytes, 70U);
    EXPECT_EQ(all[0].owner, 1);
    EXPECT_EQ(all[1].address, b.address());
    EXPECT_EQ(all[1].owner, 0);
    EXPECT_EQ(tulle::at(tulle::place(2), [] { return tulle::global_allocations().size(); }), 2U);
    tulle::free_global(a);
    tulle::free_global(b);
}

TEST_P(global_memory_test, cleared_memory_is_zeros_and_reallocated_memory_keeps_its_contents) {
    auto const used = tulle::allocate_global<std::uint64_t>(3000);
    tulle::write(std::span<std::uint64_t const>(pattern<std::uint64_t>(3000)), used);
    tulle::free_global(used);
    auto p = tulle::allocate_global_cleared<std::uint64_t>(3000);
    std::vector<std::uint64_t> got(3000, 1);
    tulle::read(p, std::span(got));
    EXPECT_EQ(std::count(got.begin(), got.end(), 0U), 3000);
    tulle::write(std::span<std::uint64_t const>(pattern<std::uint64_t>(3000)), p);
    for (std::size_t const size : {5000U, 70U, 6000U}) {
        p = tulle::reallocate_global(p, size);
        got.assign(70, 0);
        tulle::read(p, std::span(got));
        EXPECT_EQ(got, pattern<std::uint64_t>(70)) << size;
    }
    EXPECT_THROW(static_cast<void>(tulle::reallocate_global(p, k_each)),
                 tulle::out_of_global_memory);
    tulle::free_global(p);
    EXPECT_TRUE(tulle::global_allocations().empty());
}

// --- reading and writing -------------------------------------------------------------------------

TEST_P(global_memory_test, a_range_may_span_places) {
    auto const low = global_ptr<std::uint8_t>::at(m_places->services(0).memory.table()->low());
    for (std::size_t const size : {1U, 2U, 7U, 511U, 512U, 4097U, 100'000U}) {
        auto const at = low + static_cast<std::ptrdiff_t>(k_each - size / 2);
        auto const bytes = pattern<std::uint8_t>(size, static_cast<std::uint8_t>(size));
        tulle::write(std::span(bytes), at);
        std::vector<std::uint8_t> got(size);
        tulle::read(at, std::span(got));
        EXPECT_EQ(got, bytes) << size;
        for (auto const p : tulle::places())
            EXPECT_EQ(tulle::at(
                          p,
                          [](auto from, std::size_t n) {
                              std::vector<std::uint8_t> seen(n);
                              tulle::read(from, std::span(seen));
                              return seen;
                          },
                          at, size),
                      bytes);
    }
}

TEST_P(global_memory_test, all_of_it_is_written_and_read_at_once) {
    auto const low = global_ptr<std::uint8_t>::at(m_places->services(0).memory.table()->low());
    tulle::base::rng random(9);
    std::vector<std::uint8_t> bytes(4 * k_each);
    for (auto& b : bytes) b = static_cast<std::uint8_t>(random.below(256));
    auto const first = tulle::write_async(std::span<std::uint8_t const>(bytes), low);
    first.wait();
    std::vector<std::uint8_t> got(bytes.size());
    auto done = tulle::read_async(low, std::span(got));
    done.get();
    EXPECT_TRUE(got == bytes);
    auto wrong = tulle::read_async(low + 1, std::span(got));
    EXPECT_THROW(wrong.get(), std::out_of_range);
}

TEST_P(global_memory_test, objects_are_loaded_and_stored) {
    struct triple {
        double a;
        int b;
        char c;
        [[nodiscard]] bool operator==(triple const&) const = default;
    };
    for (auto const p : tulle::places()) {
        auto const made = tulle::allocate_global_at<triple>(p, 3);
        (made + 2).store({2.5, p.index(), 'x'});
        EXPECT_EQ((made + 2).load(), (triple{2.5, p.index(), 'x'}));
        EXPECT_EQ((made + 2) - made, 2);
        tulle::free_global(made);
    }
}

// --- atomic operations ---------------------------------------------------------------------------

template <class T> void count_at_all_places() {
    constexpr int k_each_adds = 500;
    auto const counter = tulle::allocate_global_at<T>(tulle::place(2), 1);
    counter.store(7);
    tulle::finish([&](tulle::activities& all) {
        for (auto const p : tulle::places())
            all.async_at(
                p,
                [](auto c) {
                    for (int k = 0; k < k_each_adds; ++k) tulle::fetch_add(c, T{1});
                },
                counter);
    });
    EXPECT_EQ(counter.load(), static_cast<T>(7 + 4 * k_each_adds));
    tulle::free_global(counter);
}

TEST_P(global_memory_test, additions_of_all_places_are_atomic) {
    count_at_all_places<std::uint32_t>();
    count_at_all_places<std::int64_t>();
}

TEST_P(global_memory_test, words_are_exchanged) {
    for (auto const p : tulle::places()) {
        auto const word = tulle::allocate_global_at<std::int32_t>(p, 2);
        word.store(-5);
        (word + 1).store(77);
        EXPECT_EQ(tulle::exchange(word, 6), -5);
        std::int32_t expected = 5;
        EXPECT_FALSE(tulle::compare_exchange(word, expected, 9));
        EXPECT_EQ(expected, 6);
        EXPECT_TRUE(tulle::compare_exchange(word, expected, -9));
        EXPECT_EQ(word.load(), -9);
        EXPECT_EQ(tulle::fetch_add(word, -1), -9);
        EXPECT_EQ(word.load(), -10);
        EXPECT_EQ((word + 1).load(), 77); // its neighbour
        tulle::free_global(word);
    }
}

TEST_P(global_memory_test, a_lock_of_compare_and_exchange_excludes) {
    auto const lock = tulle::allocate_global_cleared<std::uint64_t>(2);
    tulle::finish([&](tulle::activities& all) {
        for (auto const p : tulle::places())
            all.async_at(
                p,
                [](auto word) {
                    for (int k = 0; k < 100; ++k) {
                        for (std::uint64_t open = 0; !tulle::compare_exchange(word, open, 1);
                             open = 0)
                            tulle::this_thread::yield();
                        auto const value = word + 1;
                        value.store(value.load() + 1);
                        tulle::exchange(word, 0);
                    }
                },
                lock);
    });
    EXPECT_EQ((lock + 1).load(), 400U);
    tulle::free_global(lock);
}

TEST_P(global_memory_test, is_served_while_the_other_place_computes) {
    auto const word = tulle::allocate_global_at<std::uint64_t>(tulle::place(1), 1);
    word.store(0);
    // Both workers compute until they see what another OS thread adds; the messages are taken by
    // the service thread.
    std::thread adder([&] {
        static_cast<void>(tulle::here()); // becomes a guest
        tulle::messenger::place_context here{&m_places->endpoint(0), nullptr};
        tulle::messenger::scoped_context const for_this_thread(here);
        while (tulle::fetch_add(word, 0) < 2) std::this_thread::yield();
        for (int k = 0; k < 3; ++k) tulle::fetch_add(word, 1);
    });
    tulle::finish([&](tulle::activities& all) {
        for (int k = 0; k < 2; ++k)
            all.async_at(
                tulle::place(1),
                [](auto w) {
                    std::atomic_ref<std::uint64_t> const here(*w.local());
                    for (++here; here.load() < 5;) {}
                },
                word);
    });
    adder.join();
    EXPECT_EQ(word.load(), 5U);
    tulle::free_global(word);
}

// --- arrays --------------------------------------------------------------------------------------

TEST_P(global_memory_test, blocks_of_an_array_go_round) {
    for (std::size_t const size : {1U, 4U, 5U, 37U, 1000U})
        for (std::size_t const block : {1U, 3U, 64U}) {
            auto array = tulle::global_array<std::uint64_t>::allocate(size, block);
            std::uint64_t const low = m_places->services(0).memory.table()->low();
            for (std::size_t i = 0; i < size; ++i) {
                EXPECT_EQ(array.pointer(i).home().index(), static_cast<int>(i / block % 4))
                    << size << " " << block << " " << i;
                EXPECT_EQ(array.get(i), 0U);
            }
            // Threads of the loop that are stolen do not know of this place, so its number comes
            // from the address.
            array.for_each([low](std::size_t i, std::uint64_t& element) {
                element += 10 * i + (reinterpret_cast<std::uintptr_t>(&element) - low) / k_each;
            });
            for (std::size_t i = 0; i < size; ++i) EXPECT_EQ(array.get(i), 10 * i + i / block % 4);
            array.free();
            EXPECT_EQ(array.size(), 0U);
        }
    EXPECT_TRUE(tulle::global_allocations().empty());
}

TEST_P(global_memory_test, an_array_that_does_not_fit_leaves_nothing) {
    EXPECT_THROW(static_cast<void>(tulle::global_array<char>::allocate(4 * k_each + 1, 1)),
                 tulle::out_of_global_memory);
    EXPECT_THROW(static_cast<void>(tulle::global_array<char>::allocate(2 * k_each, 2 * k_each)),
                 tulle::out_of_global_memory);
    EXPECT_THROW(static_cast<void>(tulle::global_array<char>::allocate(0, 1)),
                 std::invalid_argument);
    EXPECT_THROW(static_cast<void>(tulle::global_array<char>::allocate(1, 0)),
                 std::invalid_argument);
    EXPECT_TRUE(tulle::global_allocations().empty());
}

TEST_P(global_memory_test, an_array_has_no_elements_beyond_its_size) {
    auto array = tulle::global_array<int>::allocate(10, 4); // the last block has room for 12
    array.set(9, 3);
    EXPECT_EQ(array.get(9), 3);
    for (std::size_t const i :
         {std::size_t{10}, std::size_t{11}, std::size_t{12}, ~std::size_t{0}}) {
        EXPECT_THROW(static_cast<void>(array.get(i)), std::out_of_range) << i;
        EXPECT_THROW(array.set(i, 1), std::out_of_range) << i;
    }
    try {
        array.set(10, 1);
    } catch (std::out_of_range const& e) {
        EXPECT_STREQ(e.what(), "tulle::global_array: element 10 of an array of 10");
    }
    array.free();
    EXPECT_THROW(static_cast<void>(array.get(0)), std::out_of_range); // empty
}

TEST_P(global_memory_test, an_exception_of_a_loop_comes_home) {
    auto array = tulle::global_array<int>::allocate(100, 7);
    EXPECT_THROW(array.for_each([](std::size_t i, int&) {
        if (i == 50) throw std::length_error("at 50");
    }),
                 std::length_error);
    array.free();
}

// --- messages ------------------------------------------------------------------------------------

class memory_messages : public testing::Test {
protected:
    void SetUp() override {
        tulle::initialize({.workers = 2});
        m_places.emplace(3, loopback_options{.shares_segments = false},
                         loopback_settings{.memory = {3 * k_each, 1}});
    }
    void TearDown() override {
        m_places.reset();
        tulle::finalize();
    }
    template <class F> std::uint64_t count(F action) {
        std::uint64_t const before = m_places->network().sent();
        action();
        return m_places->network().sent() - before;
    }
    std::optional<loopback_places> m_places;
};

TEST_F(memory_messages, an_operation_is_one_there_and_one_back) {
    auto const far = tulle::allocate_global_at<std::uint64_t>(tulle::place(1), 100);
    std::vector<std::uint64_t> values(100);
    EXPECT_EQ(count([&] { static_cast<void>(tulle::allocate_global_at<char>(tulle::place(2))); }),
              2U);
    EXPECT_EQ(count([&] { tulle::fetch_add(far, 1); }), 2U);
    EXPECT_EQ(count([&] { tulle::read(far, std::span(values)); }), 2U);
    EXPECT_EQ(count([&] { tulle::write(std::span<std::uint64_t const>(values), far); }), 2U);
    EXPECT_EQ(count([&] { tulle::free_global(far); }), 2U);
}

TEST_F(memory_messages, what_is_here_needs_none) {
    EXPECT_EQ(count([&] {
                  auto const near = tulle::allocate_global_at<std::uint64_t>(tulle::place(0), 100);
                  tulle::fetch_add(near, 1);
                  near.store(5);
                  tulle::free_global(near);
              }),
              0U);
}

TEST_F(memory_messages, an_allocation_asks_one_group_after_the_other) {
    auto const here = tulle::allocate_global<char>(k_each);
    auto const next = tulle::allocate_global<char>(k_each);
    EXPECT_EQ(next.home().index(), 1);
    // 1 and 2, there and back
    EXPECT_EQ(count([&] { EXPECT_EQ(tulle::allocate_global<char>(k_each).home().index(), 2); }),
              4U);
    EXPECT_EQ(tulle::global_allocations().back().owner, 0);
    tulle::free_global(here);
}

} // namespace

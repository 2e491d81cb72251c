// SPDX-License-Identifier: Apache-2.0
//
// What places send each other when it is hard: values that cannot be written or read, very much at
// once, global memory that cannot be mapped.
#include "loopback_places.hpp"
#include "named_network.hpp"

#include <tulle.h>
#include <tulle/global_memory.hpp>
#include <tulle/place_local.hpp>
#include <tulle/team.hpp>
#include <tulle/tulle.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <system_error>
#include <vector>

namespace {

enum class fails { never, when_written, when_read };

// Travels with some bytes, or does not.
struct stubborn {
    fails when = fails::never;
    std::vector<std::uint8_t> load{};
};

} // namespace

template <> struct tulle::wire<stubborn> {
    static void put(wire_writer& to, stubborn const& value) {
        to.put(value.load);
        if (value.when == fails::when_written) throw std::domain_error("not written");
        to.put(value.when);
    }
    static stubborn get(wire_reader& from) {
        stubborn made;
        made.load = from.get<std::vector<std::uint8_t>>();
        made.when = from.get<fails>();
        if (made.when == fails::when_read) throw std::domain_error("not read");
        return made;
    }
};

namespace {

class values_that_do_not_travel : started, public testing::TestWithParam<loaded_network> {
protected:
    template <class F> std::uint64_t count(F action) {
        std::uint64_t const before = m_places.network().sent();
        action();
        return m_places.network().sent() - before;
    }
    [[nodiscard]] static stubborn value(fails when) {
        return {when, std::vector<std::uint8_t>(GetParam().load, 7)};
    }

    loopback_places m_places{3, GetParam().options};
};

INSTANTIATE_TEST_SUITE_P(
    networks, values_that_do_not_travel,
    testing::Values(loaded_network{{"small"}, 10}, loaded_network{{"read"}, 20'000},
                    loaded_network{{"staged", {.allows_read = false, .staging_bytes = 65536}},
                                   20'000},
                    loaded_network{{"in_pieces", {.seed = 3, .allows_read = false}}, 20'000}),
    network_name);

TEST_P(values_that_do_not_travel, an_argument_of_a_call) {
    auto const call = [](fails when) {
        tulle::at(
            tulle::place(1), [](stubborn const&) {}, value(when));
    };
    EXPECT_EQ(count([&] { EXPECT_THROW(call(fails::when_written), std::domain_error); }), 0U);
    EXPECT_THROW(call(fails::when_read), std::domain_error);
    call(fails::never);
}

TEST_P(values_that_do_not_travel, a_result_of_a_call) {
    auto const call = [](fails when) {
        return tulle::at(
            tulle::place(1),
            [](fails how, std::size_t size) {
                return stubborn{how, std::vector<std::uint8_t>(size, 7)};
            },
            when, GetParam().load);
    };
    EXPECT_THROW(static_cast<void>(call(fails::when_written)), std::domain_error);
    EXPECT_THROW(static_cast<void>(call(fails::when_read)), std::domain_error);
    EXPECT_EQ(call(fails::never).load.size(), GetParam().load);
}

// Neither is waited for: the finish ends, with what was thrown.
TEST_P(values_that_do_not_travel, an_argument_of_an_activity) {
    for (fails const when : {fails::when_written, fails::when_read}) {
        static std::atomic<int> s_ran;
        s_ran = 0;
        EXPECT_THROW(tulle::finish([when](tulle::activities& all) {
                         all.async_at(tulle::place(1), [] { ++s_ran; });
                         all.async_at(
                             tulle::place(2), [](stubborn const&) { ++s_ran; }, value(when));
                     }),
                     std::domain_error);
        EXPECT_EQ(s_ran, 1);
    }
}

// What could not be read is given back: later ones go the same way.
TEST_P(values_that_do_not_travel, nothing_of_them_is_kept) {
    auto const finish = [] {
        tulle::finish([](tulle::activities& all) {
            all.async_at(
                tulle::place(1), [](stubborn const&) {}, value(fails::when_read));
        });
    };
    std::uint64_t const first = count([&] { EXPECT_THROW(finish(), std::domain_error); });
    for (int k = 0; k < 10; ++k)
        EXPECT_EQ(count([&] { EXPECT_THROW(finish(), std::domain_error); }), first);
}

TEST_P(values_that_do_not_travel, a_value_of_a_team) {
    for (fails const when : {fails::when_written, fails::when_read})
        tulle::finish([when](tulle::activities& all) {
            for (tulle::place const p : tulle::places())
                all.async_at(
                    p,
                    [](fails how) {
                        tulle::team const everybody;
                        stubborn mine = everybody.rank() == 1 ? value(how) : stubborn{};
                        bool const knows_why = everybody.rank() == 1 ? how == fails::when_written
                                                                     : how == fails::when_read;
                        try {
                            everybody.broadcast(mine, 1);
                            EXPECT_TRUE(how == fails::when_read && everybody.rank() == 1);
                        } catch (std::domain_error const&) {
                            EXPECT_TRUE(knows_why);
                        } catch (tulle::collective_error const&) {
                            EXPECT_NE(everybody.rank(), 1);
                        }
                        EXPECT_EQ(everybody.allreduce(1), 3); // it can be used on
                    },
                    when);
        });
}

TEST_P(values_that_do_not_travel, what_objects_of_places_are_made_of) {
    using objects = tulle::place_local<std::size_t>;
    auto const make = [](fails when) {
        return objects::make([](stubborn const& v) { return v.load.size(); }, value(when));
    };
    EXPECT_THROW(static_cast<void>(make(fails::when_written)), std::domain_error);
    EXPECT_THROW(static_cast<void>(make(fails::when_read)), tulle::exception_list); // of two places
    auto const made = make(fails::never);
    EXPECT_EQ(*made, GetParam().load);
    made.destroy();
}

// --- very much at once ---------------------------------------------------------------------------

constexpr std::size_t k_much = std::size_t{64} << 20U;

class much_at_once : started, public testing::TestWithParam<named_network> {
protected:
    static std::vector<std::uint8_t> made() {
        std::vector<std::uint8_t> all(k_much, 1);
        for (std::size_t k = 0; k < k_much; k += 4001) all[k] = static_cast<std::uint8_t>(k / 4001);
        return all;
    }
    loopback_places m_places{2, GetParam().options, {.memory = {.bytes = 4 * k_much}}};
};

INSTANTIATE_TEST_SUITE_P(
    networks, much_at_once,
    testing::Values(named_network{"read"},
                    named_network{"in_pieces", {.allows_read = false, .shares_segments = false}}),
    network_name);

TEST_P(much_at_once, there_and_back) {
    auto const sent = made();
    EXPECT_EQ(tulle::at(
                  tulle::place(1), [](std::vector<std::uint8_t> all) { return all; }, sent),
              sent);
}

TEST_P(much_at_once, pushed_and_pulled) {
    auto const sent = made();
    std::vector<std::uint8_t> there(k_much), back(k_much);
    tulle_signal_t done;
    ASSERT_EQ(tulle_signal_init(&done, 1), 0);
    tulle_ilet_t const arrived{[](std::uint64_t signal, std::uint64_t) {
                                   tulle_signal_notify_at(
                                       0, reinterpret_cast<tulle_signal_t*>(signal)); // NOLINT
                               },
                               reinterpret_cast<std::uintptr_t>(&done), 0};
    ASSERT_EQ(tulle_push(1, there.data(), sent.data(), k_much, nullptr, &arrived), 0);
    ASSERT_EQ(tulle_signal_wait(&done), 0);
    ASSERT_EQ(tulle_pull(back.data(), 1, there.data(), k_much), 0);
    EXPECT_EQ(back, sent);
}

TEST_P(much_at_once, written_to_global_memory_and_read) {
    auto const sent = made();
    auto const all = tulle::allocate_global_at<std::uint8_t>(tulle::place(1), k_much);
    tulle::write(std::span<std::uint8_t const>(sent), all);
    std::vector<std::uint8_t> back(k_much);
    tulle::read(all, std::span(back));
    EXPECT_EQ(back, sent);
    tulle::free_global(all);
}

// --- memory that cannot be mapped ----------------------------------------------------------------

class unmapped_memory : started, public testing::Test {
protected:
    template <class F> static int error_of(F action) {
        try {
            action();
            return 0;
        } catch (std::system_error const& e) {
            return e.code().value();
        }
    }
};

TEST_F(unmapped_memory, is_told_at_each_use) {
    loopback_places const places(2, {}, {.refused = {.mapping = ENOMEM}});
    auto const somewhere = tulle::global_ptr<int>::at(4096);
    EXPECT_EQ(error_of([] { static_cast<void>(tulle::allocate_global<int>(1)); }), ENOMEM);
    EXPECT_EQ(error_of([] { static_cast<void>(tulle::allocate_global_at<int>(tulle::place(1))); }),
              ENOMEM);
    EXPECT_EQ(error_of([&] { static_cast<void>(somewhere.load()); }), ENOMEM);
    EXPECT_EQ(error_of([&] { tulle::fetch_add(somewhere, 1); }), ENOMEM);
    EXPECT_EQ(error_of([&] { tulle::free_global(somewhere); }), ENOMEM);
    EXPECT_EQ(error_of([] {
                  tulle::at(tulle::place(1),
                            [] { static_cast<void>(tulle::allocate_global<int>(1)); });
              }),
              ENOMEM);
    int value = 0;
    EXPECT_EQ(tulle_global_read(&value, reinterpret_cast<void const*>(std::uintptr_t{4096}),
                                sizeof value),
              -ENOMEM); // NOLINT
}

TEST_F(unmapped_memory, of_another_place_is_told_by_that_one) {
    loopback_places const places(
        2, {.shares_segments = false},
        {.memory = {.group = 1}, .refused = {.mapping = EPERM, .unmapped = 1}});
    auto const own = tulle::allocate_global_cleared<int>(1);
    EXPECT_EQ(own.load(), 0);
    EXPECT_EQ(error_of([] { static_cast<void>(tulle::allocate_global_at<int>(tulle::place(1))); }),
              EPERM);
    auto const there = tulle::global_ptr<int>::at(own.address() + (std::uint64_t{8} << 20U));
    EXPECT_EQ(there.home().index(), 1);
    EXPECT_EQ(error_of([&] { static_cast<void>(there.load()); }), EPERM);
    EXPECT_EQ(error_of([&] { there.store(1); }), EPERM);
    EXPECT_EQ(error_of([&] { tulle::fetch_add(there, 1); }), EPERM);
    EXPECT_EQ(error_of([&] { tulle::free_global(there); }), EPERM);
    tulle::free_global(own);
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
//
// Places that have memory and run no threads of the program: two of four, over networks that delay
// and reorder.
#include "loopback_places.hpp"
#include "named_network.hpp"

#include <tulle/at_home.hpp>
#include <tulle/c/activity.h>
#include <tulle/c/global_memory.h>
#include <tulle/c/place.h>
#include <tulle/tulle.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

namespace {

using namespace std::chrono_literals;
using tulle::at_home;
using tulle::global_ptr;
using tulle::place;
namespace feb = tulle::feb;

class memory_place_test : started, public testing::TestWithParam<named_network> {
protected:
    memory_place_test()
        : m_places(4, GetParam().options, {.memory = {4U << 20U, 0}, .memory_places = 2}) {}

private:
    loopback_places m_places;
};
INSTANTIATE_TEST_SUITE_P(networks, memory_place_test, unlike_networks(), network_name);

template <class F> void expect_refusal(F f) {
    try {
        f();
        ADD_FAILURE() << "a memory place runs it";
    } catch (std::system_error const& e) {
        EXPECT_EQ(e.code(), std::error_code(EOPNOTSUPP, std::generic_category()));
        std::string const what = e.what();
        EXPECT_NE(what.find("place 2 has memory and runs no threads"), std::string::npos) << what;
        EXPECT_NE(what.find("the places 0 to 1"), std::string::npos) << what;
    }
}

TEST_P(memory_place_test, they_follow_those_that_run_threads) {
    EXPECT_EQ(tulle::place_count(), 2);
    EXPECT_EQ(tulle_place_count(), 2);
    EXPECT_EQ(tulle_memory_place_count(), 2);
    std::vector<int> numbers;
    for (place const p : tulle::places()) {
        EXPECT_TRUE(p.runs_threads());
        numbers.push_back(p.index());
    }
    EXPECT_EQ(tulle::memory_places().size(), 2);
    for (place const p : tulle::memory_places()) {
        EXPECT_FALSE(p.runs_threads());
        EXPECT_FALSE(p.is_dead());
        numbers.push_back(p.index());
    }
    EXPECT_EQ(numbers, (std::vector<int>{0, 1, 2, 3}));
    EXPECT_THROW(place(4), std::out_of_range);
    EXPECT_EQ(tulle::at(place(1), [] { return tulle::place_count(); }), 2);
}

TEST_P(memory_place_test, what_would_run_there_is_refused) {
    static std::atomic<int> s_ran{0};
    auto const run = [] { ++s_ran; };
    s_ran = 0;
    place const there(2);
    expect_refusal([&] { tulle::at(there, run); });
    expect_refusal([&] { tulle::finish([&](auto& all) { all.async_at(there, run); }); });
    // The others of the finish have run when it is over.
    expect_refusal([&] {
        tulle::finish([&](auto& all) {
            for (int k = 0; k < 10; ++k) all.async_at(place(1), run);
            all.async_at(there, run);
        });
    });
    EXPECT_EQ(s_ran, 10);
    // By an activity of another place.
    expect_refusal([&] {
        tulle::finish([&](auto& all) {
            all.async_at(place(1),
                         [] { tulle::this_activity::async_at(place(2), [] { ++s_ran; }); });
        });
    });
    EXPECT_EQ(s_ran, 10);
}

void touch(std::uint64_t ran, std::uint64_t /*unused*/) {
    ++*reinterpret_cast<std::atomic<int>*>(ran); // NOLINT(performance-no-int-to-ptr)
}
void answer_nothing(void const* /*argument*/, std::size_t /*size*/, void* /*result*/,
                    std::size_t /*result_size*/) {}
void do_nothing(void const* /*argument*/, std::size_t /*size*/) {}

TEST_P(memory_place_test, c_functions_refuse_it_too) {
    std::atomic<int> ran{0};
    tulle_ilet_t const ilet{&touch, reinterpret_cast<std::uintptr_t>(&ran), 0};
    std::array<char, 4> target{};
    EXPECT_EQ(tulle_start_at(2, ilet), -EOPNOTSUPP);
    EXPECT_EQ(tulle_start_at(4, ilet), -EINVAL);
    EXPECT_EQ(tulle_push(2, target.data(), "abc", 4, nullptr, &ilet), -EOPNOTSUPP);
    EXPECT_EQ(target[0], 0);
    EXPECT_EQ(tulle_call_at(2, &answer_nothing, nullptr, 0, nullptr, 0), -EOPNOTSUPP);
    EXPECT_EQ(tulle_call_at(4, &answer_nothing, nullptr, 0, nullptr, 0), -EINVAL);
    EXPECT_EQ(tulle_finish(
                  [](tulle_activities_t* all, void* /*unused*/) {
                      EXPECT_EQ(tulle_async_at(all, 2, &do_nothing, nullptr, 0), -EOPNOTSUPP);
                  },
                  nullptr),
              0);
    EXPECT_EQ(ran, 0);
    // Memory is what it is for. What runs when the bytes have been sent runs here; when they have
    // arrived nobody learns.
    static std::array<char, 4> s_pushed;
    EXPECT_EQ(tulle_push(2, s_pushed.data(), "abc", 4, &ilet, nullptr), 0);
    while (ran != 1) tulle::this_thread::yield();
    target = {'d', 'e', 'f', '\0'};
    std::array<char, 4> back{};
    EXPECT_EQ(tulle_pull(back.data(), 2, target.data(), 4), 0);
    EXPECT_STREQ(back.data(), "def");
    void* address = nullptr;
    EXPECT_EQ(tulle_global_malloc_at(&address, 3, 100), 0);
    EXPECT_EQ(tulle_global_malloc_at(&address, 4, 100), -EINVAL);
}

TEST_P(memory_place_test, their_memory_is_read_written_and_changed) {
    constexpr std::size_t k_words = 5000;
    for (place const p : tulle::memory_places()) {
        auto const words = tulle::allocate_global_at<std::uint64_t>(p, k_words);
        EXPECT_EQ(words.home(), p);
        std::vector<std::uint64_t> out(k_words), in(k_words);
        std::iota(out.begin(), out.end(), 7U);
        tulle::write(std::span<std::uint64_t const>(out), words);
        tulle::finish([&](tulle::activities& all) {
            for (place const adder : tulle::places())
                all.async_at(
                    adder,
                    [](global_ptr<std::uint64_t> w) {
                        for (int k = 0; k < 50; ++k) tulle::fetch_add(w, 2U);
                    },
                    words);
        });
        tulle::read(words, std::span<std::uint64_t>(in));
        out[0] += 2 * 50 * 2;
        EXPECT_EQ(in, out);
        tulle::free_global(words);
    }
}

TEST_P(memory_place_test, words_and_objects_there_are_used_by_the_others) {
    auto const box = tulle::allocate_global_at<long>(place(3));
    feb::empty(box);
    EXPECT_EQ(feb::try_read_fe(box), std::nullopt);
    EXPECT_EQ(feb::try_read_fe_for(box, 1ms), std::nullopt); // a limit is told to the home
    tulle::finish([&](tulle::activities& all) {
        all.async_at(
            place(1),
            [](global_ptr<long> b) {
                for (long k = 0; k < 20; ++k) feb::write_ef(b, k);
            },
            box);
        for (long k = 0; k < 20; ++k) EXPECT_EQ(feb::read_fe(box), k);
    });
    auto const lock = tulle::make_global<tulle::mutex>(place(2));
    auto const sum = tulle::allocate_global_at<long>(place(2));
    sum.store(0);
    tulle::finish([&](tulle::activities& all) {
        for (place const p : tulle::places())
            all.async_at(
                p,
                [](at_home<tulle::mutex> m, global_ptr<long> s) {
                    for (int k = 0; k < 20; ++k) {
                        std::lock_guard const held(m);
                        s.store(s.load() + 1);
                    }
                },
                at_home(lock), sum);
    });
    EXPECT_EQ(sum.load(), 40);
    tulle::destroy_global(lock);
}

TEST_P(memory_place_test, teams_are_of_those_that_run_threads) {
    EXPECT_EQ(tulle::team().size(), 2);
    EXPECT_THROW(tulle::team({place(0), place(3)}), std::invalid_argument);
    static std::atomic<int> s_sum{0};
    s_sum = 0;
    tulle::finish([](tulle::activities& all) {
        for (place const p : tulle::places())
            all.async_at(p, [] {
                tulle::team const everyone;
                for (int k = 0; k < 10; ++k) everyone.barrier();
                s_sum += everyone.allreduce(tulle::here().index() + 1, std::plus<>());
            });
    });
    EXPECT_EQ(s_sum, 2 * 3);
}

// Each place manages its own part of global memory.
class memory_place_of_its_own_test : started, public testing::Test {
    loopback_places m_places{4, {}, {.memory = {4U << 20U, 1}, .memory_places = 2}};
};

TEST_F(memory_place_of_its_own_test, what_it_has_is_listed) {
    std::vector<global_ptr<char>> made;
    for (int k = 0; k < 4; ++k) made.push_back(tulle::allocate_global_at<char>(place(k), 100));
    auto const listed = tulle::global_allocations();
    ASSERT_EQ(listed.size(), made.size());
    for (std::size_t k = 0; k < made.size(); ++k) EXPECT_EQ(listed[k].address, made[k].address());
    for (auto const p : made) tulle::free_global(p);
    EXPECT_TRUE(tulle::global_allocations().empty());
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
//
// The C functions of places where C alone does not get: exceptions of C++ that leave functions,
// bytes that cannot travel, and places that die.
#include "loopback_places.hpp"

#include <tulle.h>
#include <tulle/place.hpp>
#include <tulle/this_thread.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

namespace {

enum class failure : int {
    none,
    memory,
    logic,
    argument,
    range,
    length,
    code,
    no_code,
    runtime,
    nothing_known
};

struct failure_case {
    failure what;
    int number;
};
constexpr failure_case k_failures[] = {{failure::none, 0},
                                       {failure::memory, -ENOMEM},
                                       {failure::logic, -EPERM},
                                       {failure::argument, -EINVAL},
                                       {failure::range, -EFAULT},
                                       {failure::length, -ENOMEM},
                                       {failure::code, -ENOSPC},
                                       {failure::no_code, -EREMOTEIO},
                                       {failure::runtime, -EREMOTEIO},
                                       {failure::nothing_known, -EREMOTEIO}};

void fail_by(failure what) {
    switch (what) {
        case failure::none: return;
        case failure::memory: throw std::bad_alloc();
        case failure::logic: throw std::logic_error("a");
        case failure::argument: throw std::invalid_argument("b");
        case failure::range: throw std::out_of_range("c");
        case failure::length: throw std::length_error("d");
        case failure::code: throw std::system_error(ENOSPC, std::generic_category());
        case failure::no_code: throw std::system_error(0, std::generic_category());
        case failure::runtime: throw std::runtime_error("d");
        case failure::nothing_known: throw 5;
    }
}
failure failure_in(void const* argument, std::size_t size) {
    failure what{};
    EXPECT_EQ(size, sizeof what);
    std::memcpy(&what, argument, sizeof what);
    return what;
}
void failing_call(void const* argument, std::size_t size, void* /*result*/,
                  std::size_t /*result_size*/) {
    fail_by(failure_in(argument, size));
}
void failing_activity(void const* argument, std::size_t size) {
    fail_by(failure_in(argument, size));
}
void* failing_make(void const* argument, std::size_t size) {
    static int s_object;
    if (tulle_here() == 1) fail_by(failure_in(argument, size));
    return &s_object;
}
void empty_call(void const* /*argument*/, std::size_t /*size*/, void* /*result*/,
                std::size_t /*result_size*/) {}
void empty_activity(void const* /*argument*/, std::size_t /*size*/) {}
void* make_something(void const* /*argument*/, std::size_t /*size*/) {
    static int s_object;
    return &s_object;
}

class c_functions_of_places : started, public testing::Test {
protected:
    void bury(int which) {
        m_places.network().kill(static_cast<tulle::net::rank>(which), SIGKILL);
        while (tulle_place_is_dead(which) == 0) tulle::this_thread::yield();
    }
    loopback_places m_places{3, {}, {.survives = true, .searches = true}};
};

// `start` gets the activities of a finish, and what a test has.
template <class Start> int finish_in_c(Start start, std::uint64_t* lost = nullptr) {
    auto const body = [](tulle_activities_t* all, void* argument) {
        (*static_cast<Start*>(argument))(all);
    };
    return tulle_finish_within(body, &start, nullptr, lost);
}

TEST_F(c_functions_of_places, an_exception_that_leaves_a_call_is_its_number) {
    for (auto const& [what, number] : k_failures)
        for (int p = 0; p < 3; ++p)
            EXPECT_EQ(tulle_call_at(p, &failing_call, &what, sizeof what, nullptr, 0), number)
                << static_cast<int>(what) << " at " << p;
}

TEST_F(c_functions_of_places, an_exception_that_leaves_an_activity_is_that_of_the_finish) {
    for (auto const& [what, number] : k_failures)
        for (int p = 0; p < 3; ++p)
            EXPECT_EQ(finish_in_c([&, w = what](tulle_activities_t* all) {
                          EXPECT_EQ(tulle_async_at(all, p, &failing_activity, &w, sizeof w), 0);
                      }),
                      number);
}

TEST_F(c_functions_of_places, an_exception_that_leaves_a_body_is_that_of_the_finish) {
    EXPECT_EQ(finish_in_c([](tulle_activities_t* /*all*/) { fail_by(failure::code); }), -ENOSPC);
}

TEST_F(c_functions_of_places, of_several_failures_a_lack_of_memory_is_told) {
    EXPECT_EQ(finish_in_c([](tulle_activities_t* all) {
                  for (failure const w : {failure::logic, failure::memory, failure::runtime})
                      EXPECT_EQ(tulle_async_at(all, 1, &failing_activity, &w, sizeof w), 0);
              }),
              -ENOMEM);
}

TEST_F(c_functions_of_places, an_exception_that_leaves_a_block_ends_the_block) {
    auto const fails = [](void* what) { fail_by(*static_cast<failure*>(what)); };
    auto const holds = [](void* /*unused*/) { return 1; };
    for (auto [what, number] : k_failures) {
        EXPECT_EQ(tulle_atomically(fails, &what), number);
        EXPECT_EQ(tulle_when(holds, fails, &what), number);
    }
}

TEST_F(c_functions_of_places, an_exception_that_leaves_a_maker_leaves_no_objects) {
    for (auto const& [what, number] : k_failures) {
        tulle_place_local_t objects{};
        EXPECT_EQ(tulle_place_local_create(&objects, &failing_make, nullptr, &what, sizeof what),
                  number);
        EXPECT_EQ(objects.name != 0, number == 0);
    }
}

TEST_F(c_functions_of_places,
       an_exception_that_leaves_a_combination_fails_the_operation_everywhere) {
    static std::atomic<int> s_here;
    static std::atomic<int> s_elsewhere;
    s_here = s_elsewhere = 0;
    auto const take_part = [](void const* /*argument*/, std::size_t /*size*/) {
        auto const throws = [](void* /*into*/, void const* /*other*/) { throw std::bad_alloc(); };
        char byte = 0;
        int const error = tulle_team_allreduce(TULLE_TEAM_OF_ALL_PLACES, &byte, 1, throws);
        s_here += error == -ENOMEM ? 1 : 0;
        s_elsewhere += error == -EREMOTEIO ? 1 : 0;
        EXPECT_EQ(tulle_team_barrier(TULLE_TEAM_OF_ALL_PLACES), 0);
    };
    EXPECT_EQ(finish_in_c([&](tulle_activities_t* all) {
                  for (int p = 0; p < 3; ++p)
                      EXPECT_EQ(tulle_async_at(all, p, take_part, nullptr, 0), 0);
              }),
              0);
    EXPECT_EQ(s_here, 1); // three are combined at the first
    EXPECT_EQ(s_elsewhere, 2);
}

// TULLE_CHECK=1
TEST_F(c_functions_of_places, addresses_of_this_place_do_not_travel_but_references_do) {
    std::vector<int> const object(100);
    void const* const address = object.data();
    EXPECT_EQ(tulle_call_at(1, &empty_call, &address, sizeof address, nullptr, 0), -EINVAL);
    auto const ref = tulle_global_ref(object.data());
    EXPECT_EQ(tulle_call_at(1, &empty_call, &ref, sizeof ref, nullptr, 0), 0);
    EXPECT_EQ(tulle_global_ref_get(ref), address);
}

TEST_F(c_functions_of_places, what_needs_a_dead_place_says_so_and_the_others_go_on) {
    tulle_team_t team{};
    tulle_place_local_t objects{};
    int const members[] = {2, 1};
    int const living[] = {1, 0};
    ASSERT_EQ(tulle_team_create(&team, members, 2), 0);
    ASSERT_EQ(tulle_place_local_create(&objects, &make_something, nullptr, nullptr, 0), 0);
    bury(2);
    std::uint64_t lost = 1;
    EXPECT_EQ(tulle_call_at(2, &empty_call, nullptr, 0, nullptr, 0), -EHOSTDOWN);
    EXPECT_EQ(finish_in_c(
                  [](tulle_activities_t* all) {
                      EXPECT_EQ(tulle_async_at(all, 2, &empty_activity, nullptr, 0), -EHOSTDOWN);
                      EXPECT_EQ(tulle_async_at(all, 1, &empty_activity, nullptr, 0), 0);
                  },
                  &lost),
              0);
    EXPECT_EQ(lost, 0U);
    EXPECT_EQ(tulle_clock_advance({2, 1}, nullptr), -EHOSTDOWN);
    auto const meet = [](void const* /*argument*/, std::size_t /*size*/) {
        EXPECT_EQ(tulle_team_barrier(TULLE_TEAM_OF_ALL_PLACES), -EHOSTDOWN);
    };
    EXPECT_EQ(finish_in_c([&](tulle_activities_t* all) {
                  for (int const p : living) EXPECT_EQ(tulle_async_at(all, p, meet, nullptr, 0), 0);
              }),
              0);
    EXPECT_EQ(tulle_team_destroy(team), 0);
    EXPECT_EQ(tulle_team_create(&team, members, 2), -EHOSTDOWN);
    EXPECT_EQ(tulle_team_create(&team, living, 2), 0);
    EXPECT_EQ(tulle_team_rank(team), 1);
    EXPECT_EQ(tulle_place_local_create(&objects, &make_something, nullptr, nullptr, 0), -EHOSTDOWN);
    EXPECT_NE(tulle_place_local_get(objects), nullptr); // those of before
    EXPECT_EQ(tulle_place_local_destroy(objects), 0);
    EXPECT_EQ(tulle_place_local_get(objects), nullptr);
}

} // namespace

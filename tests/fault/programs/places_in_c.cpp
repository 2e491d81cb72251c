// SPDX-License-Identifier: Apache-2.0
//
// The C functions of places, while one place meets a failure: each call does what it should, or
// says why not and has done nothing, or as much as its documentation says. In the second run there
// is one place.
#include "inject.hpp"

#include <tulle.h>
#include <tulle/runtime.hpp>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <vector>

namespace {

constexpr std::size_t k_large = 100'000;

// Memory may be short.
bool is_done(int error) {
    if (error == 0) return true;
    fault::note_error(-error, "a C function");
    return false;
}
// At another member of a team, too.
bool is_done_by_team(int error) { return is_done(error == -EREMOTEIO ? -ENOMEM : error); }
// The same, of what may be tried again.
template <class Call> void must_succeed_again(Call call, char const* sentence) {
    fault::require(is_done(call()) || is_done(call()) || fault::is_lasting(), sentence);
}

int last() { return tulle_place_count() - 1; }

// --- calls ---------------------------------------------------------------------------------------

void add_up(void const* argument, std::size_t size, void* result, std::size_t result_size) {
    std::uint64_t sum = 0;
    for (std::size_t k = 0; k < size; ++k) sum += static_cast<unsigned char const*>(argument)[k];
    fault::require(result_size == sizeof sum, "a call has another result size");
    std::memcpy(result, &sum, sizeof sum);
}

void calls() {
    for (std::size_t const size : {std::size_t{3}, k_large}) {
        std::vector<unsigned char> const sent(size, 1);
        std::uint64_t sum = 0;
        must_succeed_again(
            [&] { return tulle_call_at(last(), &add_up, sent.data(), size, &sum, sizeof sum); },
            "a call cannot be made");
        fault::require(sum == size || fault::is_lasting(), "a call returns something else");
    }
}

void calls_begun() {
    unsigned char const sent[100]{1};
    std::uint64_t sum = 0;
    must_succeed_again(
        [&] {
            tulle_call_t* call = nullptr;
            if (int const error =
                    tulle_call_begin(&call, last(), &add_up, sent, sizeof sent, sizeof sum))
                return error;
            return tulle_call_wait(call, &sum, nullptr);
        },
        "a call cannot be begun");
    fault::require(sum == 1 || fault::is_lasting(), "a call that was begun returns something else");
}

// --- finish --------------------------------------------------------------------------------------

struct tally {
    tulle_global_ref_t home;
    long count = 0;
};

void count_one(void const* argument, std::size_t /*size*/) {
    tulle_global_ref_t home;
    std::memcpy(&home, argument, sizeof home);
    auto const add = [](void const* where, std::size_t /*size*/, void* /*result*/,
                        std::size_t /*result_size*/) {
        tulle_global_ref_t there;
        std::memcpy(&there, where, sizeof there);
        // The finish orders it.
        __atomic_add_fetch(&static_cast<tally*>(tulle_global_ref_get(there))->count, 1,
                           __ATOMIC_RELAXED);
    };
    must_succeed_again([&] { return tulle_call_at(0, add, &home, sizeof home, nullptr, 0); },
                       "an activity cannot count");
}

struct started_of {
    tally* counted;
    int started = 0;
};

void start_some(tulle_activities_t* all, void* argument) {
    auto& own = *static_cast<started_of*>(argument);
    for (int k = 0; k < 6; ++k) {
        int const error =
            k < 4 ? tulle_async_at(all, k % tulle_place_count(), &count_one, &own.counted->home,
                                   sizeof own.counted->home)
                  : tulle_async_any(all, &count_one, &own.counted->home, sizeof own.counted->home);
        own.started += is_done(error) ? 1 : 0;
    }
}

// What was started runs, whatever fails beside it.
void activities() {
    tally counted{};
    counted.home = tulle_global_ref(&counted);
    started_of all{&counted};
    std::uint64_t lost = 0;
    bool const is_whole = is_done(tulle_finish_within(&start_some, &all, nullptr, &lost));
    fault::require(lost == 0, "an activity is at a dead place");
    fault::require(!is_whole || counted.count == all.started || fault::is_lasting(),
                   "an activity is lost");
    fault::require(counted.count <= all.started || !is_whole,
                   "an activity ran that was not started");
}

// --- objects of each place -----------------------------------------------------------------------

struct local_count {
    long value = 0;
};

long g_alive = 0; // of each place; nobody makes and destroys at a time

void* make_count(void const* argument, std::size_t /*size*/) {
    static local_count s_count;
    std::memcpy(&s_count.value, argument, sizeof s_count.value);
    ++g_alive;
    return &s_count;
}
void destroy_count(void* /*object*/) { --g_alive; }

void objects() {
    long const first = 5;
    tulle_place_local_t made{};
    if (!is_done(
            tulle_place_local_create(&made, &make_count, &destroy_count, &first, sizeof first)))
        return fault::require(g_alive == 0, "an object stays that the others do not have");
    auto* const own = static_cast<local_count*>(tulle_place_local_get(made));
    fault::require(own != nullptr && own->value == first, "an object is not there");
    auto const add = [](void* object) { ++static_cast<local_count*>(object)->value; };
    auto const is_six = [](void* object) {
        return static_cast<local_count*>(object)->value == 6 ? 1 : 0;
    };
    auto const end = [](void* object) { static_cast<local_count*>(object)->value = 7; };
    must_succeed_again([&] { return tulle_atomically(add, own); }, "an atomic block cannot run");
    if (own->value == 6)
        must_succeed_again([&] { return tulle_when(is_six, end, own); },
                           "a conditional block cannot run");
    must_succeed_again([&] { return tulle_place_local_destroy(made); },
                       "objects cannot be destroyed");
}

// --- clocks --------------------------------------------------------------------------------------

void advance_twice(void const* argument, std::size_t /*size*/) {
    tulle_clock_t clock;
    std::memcpy(&clock, argument, sizeof clock);
    for (int k = 0; k < 2; ++k)
        if (!is_done(tulle_clock_advance(clock, nullptr))) return;
}

void start_clocked(tulle_activities_t* all, void* /*argument*/) {
    tulle_clock_t clock{};
    if (!is_done(tulle_clock_create(&clock))) return;
    for (int p = 0; p < tulle_place_count(); ++p)
        is_done(tulle_clock_async_at(clock, all, p, &advance_twice, &clock, sizeof clock));
    must_succeed_again([&] { return tulle_clock_drop(clock); }, "a clock cannot be dropped");
}

void clocks() { is_done(tulle_finish(&start_clocked, nullptr)); }

// --- teams: a member that does not come keeps the others waiting, so all come --------------------

void add_numbers(void* into, void const* other) {
    int a = 0;
    int b = 0;
    std::memcpy(&a, into, sizeof a);
    std::memcpy(&b, other, sizeof b);
    a += b;
    std::memcpy(into, &a, sizeof a);
}

void take_part(void const* /*argument*/, std::size_t /*size*/) {
    fault::disarm();
    tulle_team_t const all = TULLE_TEAM_OF_ALL_PLACES;
    int sum = 1;
    fault::arm();
    bool const is_right =
        is_done_by_team(tulle_team_allreduce(all, &sum, sizeof sum, &add_numbers));
    fault::disarm();
    int again = 1;
    bool const is_right_again =
        is_done_by_team(tulle_team_allreduce(all, &again, sizeof again, &add_numbers));
    std::array<int, 64> each{};
    bool const has_all =
        is_done_by_team(tulle_team_all_gather(all, &again, sizeof again, each.data()));
    fault::arm();
    fault::require(!is_right || sum == tulle_place_count(), "a sum is wrong");
    fault::require(
        (is_right_again && again == tulle_place_count() && has_all && each[0] == again) ||
            fault::is_lasting(),
        "a team cannot be used on");
}

void start_members(tulle_activities_t* all, void* /*argument*/) {
    for (int p = 0; p < tulle_place_count(); ++p)
        fault::require(is_done(tulle_async_at(all, p, &take_part, nullptr, 0)),
                       "a member cannot be started");
}

void members() {
    fault::disarm();
    fault::require(is_done(tulle_finish(&start_members, nullptr)) || fault::is_lasting(),
                   "a member has failed");
    fault::arm();
}

void body() {
    fault::arm();
    if (!fault::attempt([] { tulle::initialize({.workers = 2}); })) return;
    calls();
    calls_begun();
    activities();
    objects();
    clocks();
    members();
    fault::attempt([] { tulle::finalize(); });
    fault::disarm();
}

} // namespace

int main() { return fault::run(&body); }

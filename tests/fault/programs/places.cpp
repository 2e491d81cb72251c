// SPDX-License-Identifier: Apache-2.0
//
// Places: calls, activities, payloads of all ways, i-lets, global memory and collective operations,
// while one place meets a failure. The other one hears of it where it waits. In the second run
// there is one place.
#include "inject.hpp"

#include <tulle.h>
#include <tulle/global_memory.hpp>
#include <tulle/global_mutex.hpp>
#include <tulle/team.hpp>
#include <tulle/tulle.hpp>

#include <numeric>
#include <vector>

namespace {

// What may fail at any place, with a documented error. Of several errors all that can be said is
// that memory was short.
template <class Call> bool attempt_over_places(Call call, int tries = 2) {
    return fault::attempt(
        [&call] {
            try {
                call();
            } catch (tulle::exception_list const&) {
                throw std::bad_alloc();
            } catch (tulle::collective_error const&) {
                throw std::bad_alloc();
            }
        },
        fault::allows::bad_alloc_too, tries);
}
template <class Call> void must_succeed(Call call, char const* sentence) {
    fault::require(attempt_over_places(call) || fault::is_lasting(), sentence);
}

tulle::place last() { return tulle::place(tulle::place_count() - 1); }

void calls() {
    int sum = 0;
    must_succeed(
        [&] {
            sum = tulle::at(
                last(),
                [](std::vector<int> const& all) {
                    return std::accumulate(all.begin(), all.end(), 0);
                },
                std::vector<int>{1, 2, 3});
        },
        "a call cannot be made");
    fault::require(sum == 6 || fault::is_lasting(), "a call returns something else");
    bool is_refused = false;
    must_succeed(
        [&] {
            try {
                tulle::at(last(), [] { throw std::out_of_range("far"); });
            } catch (std::out_of_range const&) {
                is_refused = true;
            }
        },
        "an exception cannot be thrown");
    fault::require(is_refused || fault::is_lasting(), "an exception is lost");
}

// Staged by the sender, read where it is.
void payloads() {
    std::vector<int> const sent(50'000, 7);
    std::vector<int> back;
    must_succeed(
        [&] {
            back = tulle::at(
                last(), [](std::vector<int> all) { return all; }, sent);
        },
        "a large call cannot be made");
    fault::require(back == sent || fault::is_lasting(), "a payload is damaged");
}

// Read from the memory of the other process, or sent by it where that is not allowed.
void transfers() {
    static std::vector<int> s_there;
    std::vector<int> here(3000);
    std::uint64_t address = 0;
    must_succeed(
        [&] {
            address = tulle::at(last(), [] {
                s_there.assign(3000, 9);
                return std::uint64_t{reinterpret_cast<std::uintptr_t>(s_there.data())};
            });
        },
        "a call cannot be made");
    if (address == 0) return;
    int const error = tulle_pull(here.data(), last().index(),
                                 reinterpret_cast<void const*>(address), here.size() * sizeof(int));
    fault::require(error == 0 && here == std::vector<int>(3000, 9), "a pull is refused");
}

void activities() {
    tulle::global_ptr<long> count;
    must_succeed([&] { count = tulle::allocate_global_cleared<long>(1); },
                 "there is no global memory");
    if (!count) return;
    must_succeed(
        [&] {
            count.store(0);
            tulle::finish([&](tulle::activities& all) {
                for (int k = 0; k < 8; ++k)
                    all.async_at(
                        tulle::place(k % tulle::place_count()),
                        [](auto c) { tulle::fetch_add(c, 1L); }, count);
            });
        },
        "activities cannot be started");
    fault::require(count.load() == 8 || fault::is_lasting(), "an activity is lost");
    must_succeed([&] { tulle::free_global(count); }, "global memory cannot be freed");
}

// A member that does not come keeps the others waiting, so all come: only the operation meets the
// failure.
void take_part() {
    fault::disarm();
    tulle::team const everybody;
    int sum = 0;
    fault::arm();
    attempt_over_places([&] { sum = everybody.allreduce(1); }, 1);
    fault::disarm();
    int again = 0;
    attempt_over_places([&] { again = everybody.allreduce(1); }, 1);
    fault::arm();
    fault::require(sum == tulle::place_count() || sum == 0, "a sum is wrong");
    fault::require(again == tulle::place_count() || fault::is_lasting(),
                   "a team cannot be used on");
}

void members() {
    fault::disarm();
    tulle::finish([](tulle::activities& all) {
        for (tulle::place const p : tulle::places()) all.async_at(p, [] { take_part(); });
    });
    fault::arm();
}

void body() {
    fault::arm();
    if (!fault::attempt([] { tulle::initialize({.workers = 2}); })) return;
    calls();
    payloads();
    transfers();
    activities();
    members();
    fault::attempt([] { tulle::finalize(); });
    fault::disarm();
}

} // namespace

int main() { return fault::run(&body); }

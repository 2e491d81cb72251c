// SPDX-License-Identifier: Apache-2.0
// A program whose places wait for each other at objects of one of them, as its first argument says.
// Driven by meet_test.py.
#include <tulle.h>
#include <tulle/tulle.hpp>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

using namespace std::chrono_literals;
using word = tulle::global_ptr<long>;
namespace feb = tulle::feb;

constexpr int k_items = 200;
constexpr auto k_wait = 500ms;

tulle::place last() { return tulle::place(tulle::place_count() - 1); }

template <class F, class... A> void at_all_places(F f, A const&... arguments) {
    tulle::finish([&](tulle::activities& all) {
        for (tulle::place const p : tulle::places()) all.async_at(p, f, arguments...);
    });
}

word empty_word(tulle::place home) {
    word const made = tulle::allocate_global_at<long>(home);
    feb::purge(made);
    return made;
}

// Each place puts numbers in, and takes as many out.
bool words() {
    word const box = empty_word(last());
    word const sum = tulle::allocate_global_cleared<long>(1);
    at_all_places(
        [](word through, word to) {
            tulle::this_activity::async([through] {
                for (long k = 1; k <= k_items; ++k) feb::write_ef(through, k);
            });
            for (int k = 0; k < k_items; ++k) tulle::fetch_add(to, feb::read_fe(through));
        },
        box, sum);
    return sum.load() == tulle::place_count() * long{k_items} * (k_items + 1) / 2 &&
           !feb::try_read_fe_for(box, 2ms);
}

// The same, by the functions of C, which are told nothing but addresses.
bool words_in_c() {
    word const box = empty_word(last());
    word const sum = tulle::allocate_global_cleared<long>(1);
    at_all_places(
        [](word through, word to) {
            auto* const address = reinterpret_cast<void*>(
                through.address()); // NOLINT(performance-no-int-to-ptr): as C has it
            tulle::this_activity::async([address] {
                for (long k = 1; k <= k_items; ++k)
                    if (tulle_global_feb_write_ef(address, &k, sizeof k, nullptr) != 0)
                        std::abort();
            });
            tulle_limit_t const hour{3'600'000'000'000, nullptr};
            for (int k = 0; k < k_items; ++k) {
                long taken = 0;
                if (tulle_global_feb_read_fe(&taken, address, sizeof taken, &hour) != 0)
                    std::abort();
                tulle::fetch_add(to, taken);
            }
        },
        box, sum);
    return sum.load() == tulle::place_count() * long{k_items} * (k_items + 1) / 2;
}

bool objects() {
    auto const mutex = tulle::make_global<tulle::mutex>(last());
    auto const barrier = tulle::make_global<tulle::barrier>(last(), tulle::place_count());
    auto const done = tulle::make_global<tulle::signal>(
        tulle::place(0), static_cast<unsigned>(tulle::place_count()));
    auto const count = tulle::allocate_global_cleared<long>(1);
    at_all_places(
        [](auto m, auto b, auto s, word sum) {
            for (int k = 0; k < k_items; ++k) {
                tulle::at_home const own(m);
                std::lock_guard const held(own);
                sum.store(sum.load() + 1);
            }
            tulle::at_home(b).arrive_and_wait();
            if (sum.load() != tulle::place_count() * long{k_items}) std::abort();
            tulle::at_home(s).notify();
        },
        mutex, barrier, done, count);
    tulle::at_home(done).wait();
    tulle::destroy_global(mutex);
    tulle::destroy_global(barrier);
    tulle::destroy_global(done);
    return true;
}

// Waits at all places end by a deadline of the first one, by an activity of the last one, and by an
// exception there.
void start_waiting(tulle::activities& all) {
    for (tulle::place const p : tulle::places())
        all.async_at(p, [] {
            tulle::this_activity::async_at(last(),
                                           [] { tulle::this_activity::get_token().wait(); });
        });
}
bool stops() {
    bool const by_deadline = !tulle::finish(tulle::wait_limit(20ms), &start_waiting);
    bool const by_activity =
        !tulle::finish(tulle::cancellation_token(), [](tulle::activities& all) {
            start_waiting(all);
            all.async_at(last(), [] { tulle::this_activity::request_stop(); });
        });
    try {
        tulle::finish(tulle::cancellation_token(), [](tulle::activities& all) {
            start_waiting(all);
            all.async_at(last(), [] { throw std::range_error("of the last place"); });
        });
    } catch (std::range_error const&) {
        return by_deadline && by_activity;
    }
    return false;
}

// Barriers of all places, by their main threads, other threads, and threads of the operating
// system, among other operations.
bool barriers() {
    auto const count = tulle::allocate_global_cleared<long>(1);
    at_all_places(
        [](word sum) {
            tulle::team const all;
            auto const meet = [&all, sum](long from, long to) {
                for (long k = from; k < to; ++k) {
                    // The others give up looking.
                    if (k % 100 == all.rank()) tulle::this_thread::sleep_for(1ms);
                    if (k % 7 == 0 && all.allreduce(1L) != all.size()) std::abort();
                    tulle::fetch_add(sum, 1L);
                    all.barrier();
                    if (sum.load() < (k + 1) * all.size()) std::abort();
                    all.barrier();
                }
            };
            meet(0, 5L * k_items);
            tulle::spawn([&] { meet(5L * k_items, 6L * k_items); }).join();
            std::thread([&] { meet(6L * k_items, 7L * k_items); }).join();
        },
        count);
    return count.load() == 7L * k_items * tulle::place_count();
}

// Each but the last place says which part of a wait it was busy, in percent.
bool long_wait() {
    at_all_places([] {
        tulle::team const all;
        all.barrier();
        std::clock_t const before = std::clock(); // of all threads of the process
        if (tulle::here() == last()) tulle::this_thread::sleep_for(k_wait);
        all.barrier();
        double const busy = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
        if (tulle::here() != last())
            std::printf("busy %.1f\n", 100 * busy / std::chrono::duration<double>(k_wait).count());
    });
    return true;
}

// --- deaths --------------------------------------------------------------------------------------

template <class F> bool dies(F f) {
    try {
        f();
    } catch (tulle::dead_place const& e) {
        std::printf("place %d is dead\n", e.place());
        return true;
    }
    return false;
}

// The last place dies while threads of the first one wait there.
bool home_dies() {
    auto const mutex = tulle::make_global<tulle::mutex>(last());
    auto const barrier = tulle::make_global<tulle::barrier>(last(), 2);
    word const box = empty_word(last());
    tulle::at(
        tulle::place(1), [](auto m) { tulle::at_home(m).lock(); }, mutex);
    auto reader = tulle::spawn([=] { return dies([=] { feb::read_fe(box); }); });
    auto limited = tulle::spawn(
        [=] { return dies([=] { static_cast<void>(feb::try_read_fe_for(box, 1h)); }); });
    auto locker = tulle::spawn([=] { return dies([=] { tulle::at_home(mutex).lock(); }); });
    auto arriving =
        tulle::spawn([=] { return dies([=] { tulle::at_home(barrier).arrive_and_wait(); }); });
    auto in_c = tulle::spawn([=] {
        auto* const address = reinterpret_cast<void*>(
            box.address()); // NOLINT(performance-no-int-to-ptr): as C has it
        return tulle_global_feb_read_ff(nullptr, address, 8, nullptr) == -EHOSTDOWN;
    });
    tulle::this_thread::sleep_for(50ms);
    bool const killed = dies([] { tulle::at(last(), [] { std::raise(SIGKILL); }); });
    bool const all_told = static_cast<int>(reader.join()) + static_cast<int>(limited.join()) +
                              static_cast<int>(locker.join()) + static_cast<int>(arriving.join()) +
                              static_cast<int>(in_c.join()) ==
                          5;
    return killed && all_told;
}

// The last place dies while it waits for a word and a mutex of place 1, and holds another one.
bool waiters_die() {
    tulle::place const home(1);
    word const box = empty_word(home);
    auto const wanted = tulle::make_global<tulle::mutex>(home);
    auto const held = tulle::make_global<tulle::mutex>(home);
    tulle::at_home(wanted).lock();
    auto locker = tulle::spawn([=] {
        while (tulle::at_home(held).try_lock())
            tulle::at_home(held).unlock(), tulle::this_thread::yield();
        return dies([=] { tulle::at_home(held).lock(); });
    });
    dies([=] {
        tulle::at(
            last(),
            [](word from, auto want, auto hold) {
                tulle::at_home(hold).lock();
                tulle::spawn_detached([=] { feb::read_fe(from); });
                tulle::spawn_detached([=] { tulle::at_home(want).lock(); });
                tulle::this_thread::sleep_for(50ms);
                std::raise(SIGKILL);
            },
            box, wanted, held);
    });
    while (!tulle::at(home, [] { return tulle::place(tulle::place_count() - 1).is_dead(); }))
        tulle::this_thread::yield();
    feb::write_ef(box, 42);
    bool const kept = feb::read_fe(box) == 42;
    tulle::at_home(wanted).unlock();
    tulle::at_home(wanted).lock();
    bool const told = locker.join();
    auto* const address = reinterpret_cast<tulle_mutex_t*>(
        held.address()); // NOLINT(performance-no-int-to-ptr): as C has it
    bool const told_in_c = tulle_global_mutex_lock(address, nullptr) == -EOWNERDEAD;
    tulle::at_home(held).unlock();
    return kept && told && told_in_c && tulle::at_home(held).try_lock();
}

// The last place dies before a barrier, for which the others look or sleep; they are told, also by
// others that are.
bool dies_before_a_barrier(std::chrono::milliseconds after) {
    try {
        at_all_places(
            [](std::chrono::milliseconds patience) {
                tulle::team const all;
                for (int k = 0; k < k_items; ++k) all.barrier();
                if (tulle::here() == last()) {
                    tulle::this_thread::sleep_for(patience);
                    std::raise(SIGKILL);
                }
                for (int k = 0; k < 2; ++k) {
                    bool fails = false;
                    try {
                        fails = dies([&] { all.barrier(); });
                    } catch (tulle::collective_error const&) {
                        fails = true;
                    }
                    if (!fails) std::abort();
                }
            },
            after);
    } catch (tulle::dead_place const&) {
        return true; // the finish misses the activity there
    }
    return false;
}
bool dies_while_others_look() { return dies_before_a_barrier(0ms); }
bool dies_while_others_sleep() { return dies_before_a_barrier(50ms); }

} // namespace

int main(int argc, char** argv) {
    static std::map<std::string, bool (*)()> const s_all{{"words", &words},
                                                         {"stops", &stops},
                                                         {"words-in-c", &words_in_c},
                                                         {"objects", &objects},
                                                         {"home-dies", &home_dies},
                                                         {"waiters-die", &waiters_die},
                                                         {"barriers", &barriers},
                                                         {"long-wait", &long_wait},
                                                         {"dies-looking", &dies_while_others_look},
                                                         {"dies-asleep", &dies_while_others_sleep}};
    if (argc < 2) return EXIT_FAILURE;
    tulle::initialize();
    return s_all.at(argv[1])() ? EXIT_SUCCESS : EXIT_FAILURE;
}

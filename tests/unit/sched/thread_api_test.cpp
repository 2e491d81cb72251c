// SPDX-License-Identifier: Apache-2.0
#include "expect_error.hpp"
#include "runtime_fixture.hpp"

#include <tulle.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cfenv>
#include <exception>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace tulle;

class thread_api_test : public over_workers {};
INSTANTIATE_TEST_SUITE_P(workers, thread_api_test, ::testing::Values(1, 2, 4));

TEST_P(thread_api_test, results_of_all_kinds) {
    EXPECT_EQ(spawn([] { return 42; }).join(), 42);
    spawn([] {}).join();
    EXPECT_EQ(*spawn([] { return std::make_unique<int>(3); }).join(), 3);
    int x = 1;
    int& r = spawn([&x]() -> int& { return x; }).join();
    EXPECT_EQ(&r, &x);
    EXPECT_EQ(
        spawn([](int a, std::string const& b) { return b + std::to_string(a); }, 7, "n").join(),
        "n7");
}

TEST_P(thread_api_test, arguments_that_can_only_be_moved) {
    auto t = spawn([](std::unique_ptr<int> p) { return *p + 1; }, std::make_unique<int>(4));
    EXPECT_EQ(t.join(), 5);
    auto u = spawn([p = std::make_unique<int>(6)] { return *p; });
    EXPECT_EQ(u.join(), 6);
}

// Also where its joiner runs it.
TEST_P(thread_api_test, a_thread_sees_no_exceptions_of_its_joiner) {
    try {
        throw std::runtime_error("the joiner's");
    } catch (std::runtime_error const& e) {
        EXPECT_TRUE(spawn([] {
                        return std::current_exception() == nullptr &&
                               std::uncaught_exceptions() == 0;
                    }).join());
        EXPECT_NE(std::current_exception(), nullptr);
        EXPECT_STREQ(e.what(), "the joiner's");
    }
    struct joins_at_its_end {
        bool& found_none;
        ~joins_at_its_end() {
            found_none = spawn([] { return std::uncaught_exceptions() == 0; }).join();
            found_none = found_none && std::uncaught_exceptions() == 1;
        }
    };
    bool found_none = false;
    try {
        joins_at_its_end const last{found_none};
        throw 1;
    } catch (int) {}
    EXPECT_TRUE(found_none);
}

TEST_P(thread_api_test, a_thread_neither_sees_nor_changes_the_rounding_of_its_joiner) {
    std::fesetround(FE_UPWARD);
    EXPECT_EQ(spawn([] { return std::fegetround(); }).join(), FE_TONEAREST);
    EXPECT_EQ(std::fegetround(), FE_UPWARD);
    std::fesetround(FE_TONEAREST);
    spawn([] { std::fesetround(FE_DOWNWARD); }).join();
    EXPECT_EQ(std::fegetround(), FE_TONEAREST);
}

// It did where its joiner ran it, and nowhere else.
TEST_P(thread_api_test, a_thread_does_not_belong_to_the_finish_of_its_joiner) {
    finish([](activities&) {
        auto const belongs_to_none = [] {
            try {
                static_cast<void>(this_activity::siblings());
            } catch (std::logic_error const&) {
                return true;
            }
            return false;
        };
        for (int k = 0; k < 20; ++k) EXPECT_TRUE(spawn(belongs_to_none).join());
        EXPECT_TRUE(async(belongs_to_none).get());
        EXPECT_FALSE(belongs_to_none());
    });
}

TEST_P(thread_api_test, a_thread_rounds_to_nearest_whatever_others_have_done) {
    for (int k = 0; k < 20; ++k) {
        std::atomic<bool> changed{false}, asked{false};
        spawn_detached([&changed] {
            std::fesetround(FE_UPWARD);
            changed = true;
        });
        while (!changed) this_thread::yield();
        int mode = -1;
        spawn_detached([&] {
            mode = std::fegetround();
            asked = true;
        });
        while (!asked) this_thread::yield();
        EXPECT_EQ(mode, FE_TONEAREST);
    }
}

// Each begins at once, in place of its spawner, on a stack that one before it has left with another
// rounding.
TEST_P(thread_api_test, a_thread_that_goes_first_rounds_to_nearest) {
    attributes how;
    how.child_first = true;
    for (int k = 0; k < 50; ++k) {
        int const left_behind = k % 2 == 0 ? FE_UPWARD : FE_DOWNWARD;
        bool const was_nearest = spawn(how, [left_behind] {
                                     double volatile one = 1;
                                     long double volatile wide = 1;
                                     bool const is_nearest = std::fegetround() == FE_TONEAREST &&
                                                             one + 1e-30 == 1 && one - 1e-30 == 1 &&
                                                             wide + 1e-30L == 1;
                                     std::fesetround(left_behind);
                                     return is_nearest;
                                 }).join();
        EXPECT_TRUE(was_nearest);
        EXPECT_EQ(std::fegetround(), FE_TONEAREST);
    }
}

TEST_P(thread_api_test, large_captures) {
    std::array<long, 200> numbers{};
    numbers.fill(3);
    auto t = spawn([numbers] {
        long sum = 0;
        for (long const n : numbers) sum += n;
        return sum;
    });
    EXPECT_EQ(t.join(), 600);
}

TEST_P(thread_api_test, captures_live_as_long_as_the_thread) {
    auto const shared = std::make_shared<int>(5);
    {
        std::vector<thread<int>> threads;
        for (int k = 0; k < 100; ++k) threads.push_back(spawn([shared] { return *shared; }));
        for (auto& t : threads) EXPECT_EQ(t.join(), 5);
    }
    EXPECT_EQ(shared.use_count(), 1);
}

TEST_P(thread_api_test, joins_in_any_order) {
    std::vector<thread<int>> threads;
    for (int k = 0; k < 200; ++k) {
        threads.push_back(spawn([k] {
            this_thread::yield();
            return k;
        }));
    }
    for (int k = 199; k >= 100; --k) EXPECT_EQ(threads[static_cast<std::size_t>(k)].join(), k);
    for (int k = 0; k < 100; ++k) EXPECT_EQ(threads[static_cast<std::size_t>(k)].join(), k);
}

TEST_P(thread_api_test, exceptions_are_thrown_at_the_join) {
    for (int round = 0; round < 100; ++round) {
        auto t = spawn([round]() -> int {
            if (round % 2 == 0) this_thread::yield();
            throw std::runtime_error("from the thread");
        });
        if (round % 3 == 0) this_thread::yield();
        EXPECT_THROW(static_cast<void>(t.join()), std::runtime_error);
        EXPECT_FALSE(t.joinable());
    }
}

TEST_P(thread_api_test, moved_handles) {
    auto a = spawn([] { return 1; });
    thread<int> b = std::move(a);
    EXPECT_FALSE(a.joinable());
    b = spawn([] { return 2; }); // joins the first
    EXPECT_EQ(b.join(), 2);
    EXPECT_THROW(static_cast<void>(b.join()), std::system_error);
    EXPECT_THROW(b.detach(), std::system_error);
    EXPECT_EQ(b.get_id(), 0U);
}

TEST_P(thread_api_test, detached_threads_run) {
    std::atomic<int> ran{0};
    for (int k = 0; k < 500; ++k) spawn_detached([&ran, k] { ran.fetch_add(k % 2); });
    for (int k = 0; k < 500; ++k) spawn([&ran] { ran.fetch_add(1); }).detach();
    while (ran.load() < 750) this_thread::yield();
    while (sched::scheduler::instance().live_threads() != 0) this_thread::yield();
    EXPECT_EQ(ran.load(), 750);
}

TEST_P(thread_api_test, identities_are_unique) {
    std::vector<thread<thread_id>> threads;
    std::set<thread_id> ids{this_thread::get_id()};
    for (int k = 0; k < 3000; ++k) threads.push_back(spawn([] { return this_thread::get_id(); }));
    for (auto& t : threads) {
        thread_id const id = t.get_id();
        EXPECT_NE(id, 0U);
        EXPECT_EQ(t.join(), id);
        EXPECT_TRUE(ids.insert(id).second);
    }
}

TEST_P(thread_api_test, identity_stays_over_waits) {
    auto t = spawn([] {
        thread_id const before = this_thread::get_id();
        auto child = spawn([] {
            this_thread::yield();
            return this_thread::get_id();
        });
        this_thread::yield();
        thread_id const of_child = child.join();
        return before == this_thread::get_id() && of_child != before;
    });
    EXPECT_TRUE(t.join());
}

TEST_P(thread_api_test, names) {
    attributes named;
    named.name = "weaver";
    EXPECT_EQ(spawn(named, [] { return this_thread::name(); }).join(), "weaver");
    EXPECT_EQ(spawn([] { return this_thread::name(); }).join(), "");
    auto t = spawn([] {
        this_thread::set_name("first");
        this_thread::yield();
        this_thread::set_name("second");
        return this_thread::name();
    });
    EXPECT_EQ(t.join(), "second");
}

// Its frames are as deep as the class says, less a few kilobytes.
[[gnu::noinline]] std::size_t touch(std::size_t bytes) {
    constexpr std::size_t k_step = 1024;
    volatile char frame[k_step];
    for (std::size_t k = 0; k < k_step; k += 64) frame[k] = static_cast<char>(k);
    std::size_t const below = bytes > k_step ? touch(bytes - k_step) : 0;
    return below + k_step + static_cast<std::size_t>(frame[64] - 64);
}

TEST_P(thread_api_test, stack_sizes_are_usable) {
    constexpr std::size_t k_frames = 2; // what a step takes, with all that sanitizers add
    for (std::size_t const size :
         {std::size_t{64} << 10U, std::size_t{1} << 20U, std::size_t{8} << 20U}) {
        attributes how;
        how.stack_size = size;
        std::vector<thread<std::size_t>> threads;
        for (int k = 0; k < 10; ++k) {
            threads.push_back(spawn(how, [size] {
                this_thread::yield();
                return touch(size / k_frames - 8192);
            }));
        }
        for (auto& t : threads) EXPECT_GE(t.join(), size / k_frames - 8192);
    }
}

#if defined(NDEBUG) && !defined(TULLE_ANNOTATE_ADDRESS) && !defined(TULLE_ANNOTATE_THREAD)
TEST_P(thread_api_test, compact_threads_block_without_touching_their_neighbours) {
    attributes compact;
    compact.stack_size = 1024;
    std::vector<one_shot> events(500);
    std::vector<thread<std::size_t>> threads;
    for (std::size_t k = 0; k < events.size(); ++k) {
        threads.push_back(spawn(compact, [&e = events[k], k] {
            std::size_t const kept = k * 3;
            e.wait();
            this_thread::yield();
            return kept;
        }));
    }
    while (sched::scheduler::instance().live_threads() != 500) this_thread::yield();
    for (int k = 0; k < 100; ++k) this_thread::yield();
    for (one_shot& e : events) e.fire();
    for (std::size_t k = 0; k < events.size(); ++k) EXPECT_EQ(threads[k].join(), k * 3);
}
#endif

TEST_P(thread_api_test, child_first_runs_before_its_spawner_goes_on) {
    if (GetParam() != 1) GTEST_SKIP() << "with more workers the spawner may be faster";
    int step = 0;
    attributes first;
    first.child_first = true;
    auto t = spawn(first, [&step] { return ++step; });
    EXPECT_EQ(step, 1);
    EXPECT_EQ(t.join(), 1);
    auto u = spawn([&step] { return ++step; });
    EXPECT_EQ(step, 1);
    EXPECT_EQ(u.join(), 2);
}

// The spawner stayed in the queue of a worker that ran the child, although another slept.
TEST(child_first, spawner_goes_on_elsewhere_while_the_child_computes) {
    initialize({.workers = 2});
    attributes own; // else main, which stays on its worker, would run it in its own frame
    own.stack_size = std::size_t{1} << 20U;
    for (int round = 0; round < 50; ++round) {
        auto t = spawn(own, [] {
            std::atomic<bool> flag{false};
            attributes first;
            first.child_first = true;
            auto child = spawn(first, [&flag] { compute_until(flag); });
            flag = true;
            child.join();
        });
        // Lets the other worker fall asleep now and then.
        for (int k = 0; k < 2000; ++k) detail::cpu_pause();
        t.join();
    }
    finalize();
}

TEST_P(thread_api_test, child_first_nested) {
    attributes first;
    first.child_first = true;
    struct nest {
        static int sum(attributes how, int depth) {
            if (depth == 0) return 0;
            auto t = spawn(how, [how, depth] { return sum(how, depth - 1) + depth; });
            return t.join();
        }
    };
    EXPECT_EQ(nest::sum(first, 100), 5050);
    first.stack_size = 65536; // of its own
    EXPECT_EQ(nest::sum(first, 100), 5050);
}

// The order in which they run, "" where the yield was to be to all; the second one is yielded to.
std::string order_of_two(attributes of_second) {
    std::string order;
    auto first = spawn([&order] { order += 'a'; });
    detail::thread_core* const second = detail::make_thread(
        of_second, [&order] { order += 'b'; }, false);
    detail::start_thread(second, false, false);
    bool const is_to_it = detail::yield_to_thread(second) == detail::yielded::to_it;
    EXPECT_EQ(order, is_to_it ? "b" : "");
    first.join();
    detail::wait_thread(second);
    EXPECT_NE(detail::yield_to_thread(second), detail::yielded::to_it);
    detail::release_thread(second);
    return is_to_it ? order : "";
}

TEST_P(thread_api_test, one_that_is_yielded_to_runs_before_others) {
    if (GetParam() != 1) GTEST_SKIP() << "with more workers others may be faster";
    attributes how;
    for (std::size_t const bytes :
         {std::size_t{0}, std::size_t{65536}}) { // the default, and a stack of its own
        how.stack_size = bytes;
        std::string order;
        for (int round = 0; round < 100 && order.empty(); ++round) {
            order = order_of_two(how);
            this_thread::yield();
        }
        EXPECT_EQ(order, "ba");
    }
}

TEST_P(thread_api_test, attributes_out_of_range_are_refused) {
    attributes bad;
    auto const refused = [&bad](char const* message) {
        expect_system_error([&bad] { static_cast<void>(spawn(bad, [] {})); }, EINVAL, message);
        expect_system_error([&bad] { spawn_detached(bad, [] {}); }, EINVAL, message);
    };
    bad.shepherd = 1000;
    refused("tulle::attributes::shepherd does not exist");
    bad.shepherd = -2;
    refused("tulle::attributes::shepherd does not exist");
    bad.shepherd = -1;
    bad.stack_size = (std::size_t{1} << 30U) + 1;
    refused("tulle::attributes::stack_size is more than 1 GiB");
    EXPECT_EQ(sched::scheduler::instance().live_threads(), 0);
}

struct throws_when_moved {
    throws_when_moved() = default;
    throws_when_moved(throws_when_moved&&) { throw std::runtime_error("cannot be moved"); }
    void operator()() const {}
};

TEST_P(thread_api_test, spawn_that_throws_leaves_nothing_behind) {
    EXPECT_THROW(static_cast<void>(spawn(throws_when_moved{})), std::runtime_error);
    EXPECT_EQ(sched::scheduler::instance().live_threads(), 0);
}

// --- shepherds -----------------------------------------------------------------------------------

class placement_test : public ::testing::Test {
protected:
    void SetUp() override {
        set_option("shepherds", "2");
        initialize({.workers = 4});
        ASSERT_EQ(shepherd_count(), 2);
    }
    void TearDown() override {
        finalize();
        set_option("shepherds", "auto");
    }
    static attributes on(int shepherd, std::size_t stack_size = 0, bool child_first = false) {
        attributes how;
        how.shepherd = shepherd;
        how.stack_size = stack_size;
        how.child_first = child_first;
        return how;
    }
};

TEST_F(placement_test, placed_threads_start_there) {
    for (int k = 0; k < 200; ++k) {
        for (int s = 0; s < 2; ++s) {
            auto t = spawn(on(s), [] { return this_thread::shepherd_index(); });
            ASSERT_EQ(t.join(), s);
        }
    }
}

// A placed thread that had waited went on wherever it was woken.
TEST_F(placement_test, placed_threads_stay_over_waits) {
    for (std::size_t const stack_size : {std::size_t{0}, std::size_t{1} << 20U}) {
        std::vector<thread<void>> threads;
        for (int k = 0; k < 20; ++k) {
            threads.push_back(spawn(on(k % 2, stack_size), [home = k % 2] {
                for (int round = 0; round < 100; ++round) {
                    one_shot event;
                    auto firing = spawn([&event] {
                        this_thread::yield();
                        event.fire();
                    });
                    event.wait();
                    ASSERT_EQ(this_thread::shepherd_index(), home);
                    firing.join();
                    ASSERT_EQ(this_thread::shepherd_index(), home);
                    this_thread::sleep_for(std::chrono::microseconds(10));
                    ASSERT_EQ(this_thread::shepherd_index(), home);
                }
            }));
        }
        for (auto& t : threads) t.join();
    }
}

// A placed thread that yielded could be stolen by workers of another shepherd.
TEST_F(placement_test, placed_threads_stay_over_yields) {
    for (std::size_t const stack_size : {std::size_t{0}, std::size_t{1} << 20U}) {
        std::vector<thread<void>> threads;
        for (int k = 0; k < 20; ++k) {
            threads.push_back(spawn(on(k % 2, stack_size), [home = k % 2] {
                for (int round = 0; round < 500; ++round) {
                    this_thread::yield();
                    ASSERT_EQ(this_thread::shepherd_index(), home);
                }
            }));
        }
        for (auto& t : threads) t.join();
    }
}

TEST_F(placement_test, placed_spawner_of_a_child_first_thread_stays) {
    std::vector<thread<void>> threads;
    for (int k = 0; k < 20; ++k) {
        threads.push_back(spawn(on(k % 2, std::size_t{1} << 20U), [home = k % 2] {
            for (int round = 0; round < 100; ++round) {
                auto t = spawn(on(-1, 0, true), [] { this_thread::yield(); });
                ASSERT_EQ(this_thread::shepherd_index(), home);
                t.join();
            }
        }));
    }
    for (auto& t : threads) t.join();
}

TEST_F(placement_test, stack_of_a_placed_thread_is_free_for_others) {
    for (int round = 0; round < 50; ++round) {
        std::set<int> seen;
        spawn(on(1), [] { this_thread::yield(); }).join();
        spawn(on(0), [] { this_thread::yield(); }).join();
        auto t = spawn([] { return this_thread::shepherd_index(); });
        int const where = t.join();
        ASSERT_TRUE(where == 0 || where == 1);
    }
}

// --- death ---------------------------------------------------------------------------------------

void throw_detached() {
    initialize({.workers = 1});
    attributes how;
    how.name = "reader";
    spawn_detached(how, [] { throw std::runtime_error("no such file"); });
    for (;;) this_thread::yield();
}

void throw_when_detached_later() {
    initialize({.workers = 1});
    std::atomic<bool> detached{false};
    spawn([&detached] {
        yield_until(detached);
        throw 1;
    }).detach();
    detached = true;
    for (;;) this_thread::yield();
}

TEST(thread_death_test, detached_thread_ends_with_an_exception) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(throw_detached(),
                 "tulle: a detached thread \"reader\" ended with an exception: no such file; ");
    EXPECT_DEATH(throw_when_detached_later(),
                 "tulle: a detached thread ended with an exception: an exception that is not a ");
}

#if !defined(TULLE_ANNOTATE_ADDRESS) && !defined(TULLE_ANNOTATE_THREAD) // they know first
void resume_a_stack_that_was_given_back() {
    initialize({.workers = 1});
    attributes own;
    own.stack_size = std::size_t{1} << 20U;
    sched::fiber* gone = nullptr;
    spawn(own, [&gone] {
        this_thread::yield(); // its joiner must not run it in place
        gone = sched::this_worker()->current;
    }).join();
    this_thread::yield();
    sched::resume(*gone);
    this_thread::sleep_for(std::chrono::milliseconds(1));
}

TEST(thread_death_test, stack_that_was_given_back_is_resumed) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(resume_a_stack_that_was_given_back(),
                 "tulle: a stack that was given back has been resumed");
}
#endif

// Where the running thread was spawned.
void const* own_site() { return sched::this_fiber().frame->site; }

TULLE_NOINLINE void const* site_of_spawn() {
    return spawn([] { return own_site(); }).join();
}
TULLE_NOINLINE void const* site_of_spawn_with(attributes const& how) {
    return spawn(
               how, [](void const* (*site)()) { return site(); }, &own_site)
        .join();
}
TULLE_NOINLINE void const* site_of_detached() {
    latch ended(1);
    void const* site = nullptr;
    spawn_detached([&] {
        site = own_site();
        ended.count_down();
    });
    ended.wait();
    return site;
}
TULLE_NOINLINE void const* site_in_c() {
    tulle_thread* t = nullptr;
    void* site = nullptr;
    EXPECT_EQ(tulle_spawn(
                  &t, nullptr, [](void*) { return const_cast<void*>(own_site()); }, nullptr),
              0);
    EXPECT_EQ(tulle_thread_join(t, &site), 0);
    return site;
}

// The call is in the code of `function`, not in a helper of the library.
template <class F> void expect_site_in(F* function, void const* site) {
    constexpr std::uintptr_t k_longest_function = 4096;
    auto const begin = reinterpret_cast<std::uintptr_t>(function);
    EXPECT_GT(reinterpret_cast<std::uintptr_t>(site), begin);
    EXPECT_LT(reinterpret_cast<std::uintptr_t>(site), begin + k_longest_function);
}

TEST_P(thread_api_test, a_thread_knows_where_it_was_spawned) {
    expect_site_in(&site_of_spawn, site_of_spawn());
    expect_site_in(&site_of_spawn_with, site_of_spawn_with({.stack_size = 65536}));
    expect_site_in(&site_of_detached, site_of_detached());
    expect_site_in(&site_in_c, site_in_c());
    EXPECT_EQ(own_site(), nullptr) << "the thread that started the run time was not spawned";
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
#include "runtime_fixture.hpp"

#include "base/rng.hpp"

#include <tulle/future.hpp>
#include <tulle/when.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using namespace tulle;
using namespace std::chrono_literals;

class future_test : public over_workers {};
INSTANTIATE_TEST_SUITE_P(workers, future_test, ::testing::Values(1, 2, 4));

// What the call throws, if it is a std::future_error.
template <class F> std::optional<std::error_code> error_of(F call) {
    try {
        call();
    } catch (std::future_error const& e) {
        return e.code();
    }
    return std::nullopt;
}
using errc = std::future_errc;

TEST_P(future_test, smoke) {
    promise<int> p;
    future<int> f = p.get_future();
    EXPECT_TRUE(f.valid());
    EXPECT_FALSE(f.try_wait());
    EXPECT_FALSE(f.wait_for(200us));
    EXPECT_FALSE(f.wait_until(std::chrono::steady_clock::now() - 1s));
    p.set_value(3);
    EXPECT_TRUE(f.try_wait());
    EXPECT_TRUE(f.wait_for(0s));
    EXPECT_EQ(f.get(), 3);
    EXPECT_FALSE(f.valid());
}

TEST_P(future_test, a_waiter_goes_on_when_the_value_comes) {
    promise<std::string> p;
    auto waiter = spawn([f = p.get_future()]() mutable { return f.get(); });
    auto patient = spawn([&p] {
        this_thread::sleep_for(500us);
        p.set_value(5U, 'x');
    });
    EXPECT_EQ(waiter.join(), "xxxxx");
    patient.join();
}

TEST_P(future_test, a_timed_wait_ends_with_the_value) {
    promise<int> p;
    future<int> f = p.get_future();
    auto setter = spawn([&p] { p.set_value(1); });
    EXPECT_TRUE(f.wait_for(1h));
    EXPECT_EQ(f.get(), 1);
    setter.join();
}

TEST_P(future_test, references_nothing_and_what_can_only_be_moved) {
    int target = 0;
    promise<int&> reference;
    reference.set_value(target);
    reference.get_future().get() = 4;
    EXPECT_EQ(target, 4);
    promise<void> nothing;
    nothing.set_value();
    nothing.get_future().get();
    promise<std::unique_ptr<int>> pointer;
    pointer.set_value(std::make_unique<int>(7));
    EXPECT_EQ(*pointer.get_future().get(), 7);
    EXPECT_EQ(*async([own = std::make_unique<int>(8)]() mutable { return std::move(own); }).get(),
              8);
    EXPECT_EQ(&async([&target]() -> int& { return target; }).get(), &target);
}

TEST_P(future_test, async_returns_what_the_thread_returns) {
    EXPECT_EQ(
        async([](int a, std::string const& b) { return b + std::to_string(a); }, 5, "n").get(),
        "n5");
    EXPECT_THROW(async([]() -> int { throw std::runtime_error("no"); }).get(), std::runtime_error);
    EXPECT_EQ(async(attributes{.name = "adder"}, [] { return this_thread::name(); }).get(),
              "adder");
    std::vector<future<int>> many;
    for (int k = 0; k < 1000; ++k) many.push_back(async([k] { return k; }));
    for (int k = 0; k < 1000; ++k) EXPECT_EQ(many[static_cast<std::size_t>(k)].get(), k);
}

TEST_P(future_test, a_thread_that_has_not_started_runs_where_it_is_waited_for) {
    if (GetParam() != 1) return;
    void const* here = &sched::this_fiber();
    void const* there = nullptr;
    async([&there] { there = &sched::this_fiber(); }).get();
    EXPECT_EQ(there, here);
}

TEST_P(future_test, a_future_may_be_dropped) {
    latch ran(3);
    static_cast<void>(async([&ran] { ran.count_down(); }));
    {
        auto kept = async([&ran] { ran.count_down(); });
        auto other = async([&ran] { ran.count_down(); }).then([] {});
    }
    ran.wait();
    promise<int> p;
    static_cast<void>(p.get_future());
    p.set_value(1);
}

TEST_P(future_test, may_be_kept_longer_than_the_run_time) {
    auto f = async([] { return std::string("late"); });
    f.wait();
    finalize();
    EXPECT_EQ(f.get(), "late");
    initialize({.workers = GetParam()});
}

TEST_P(future_test, foreign_threads) {
    promise<int> there, back;
    std::thread other([f = there.get_future(), &back]() mutable {
        int const got = f.get();
        back.set_value(got + async([] { return 1; }).get());
    });
    this_thread::sleep_for(300us);
    there.set_value(4);
    EXPECT_EQ(back.get_future().get(), 5);
    other.join();
}

// --- errors --------------------------------------------------------------------------------------

TEST_P(future_test, errors) {
    future<int> none;
    EXPECT_EQ(error_of([&] { none.get(); }), make_error_code(errc::no_state));
    EXPECT_EQ(error_of([&] { static_cast<void>(none.wait_for(1s)); }),
              make_error_code(errc::no_state));
    EXPECT_EQ(error_of([&] { static_cast<void>(none.then([](int) {})); }),
              make_error_code(errc::no_state));
    promise<int> p;
    future<int> f = p.get_future();
    EXPECT_EQ(error_of([&] { static_cast<void>(p.get_future()); }),
              make_error_code(errc::future_already_retrieved));
    p.set_value(1);
    EXPECT_EQ(error_of([&] { p.set_value(2); }), make_error_code(errc::promise_already_satisfied));
    EXPECT_EQ(error_of([&] { p.set_exception({}); }),
              make_error_code(errc::promise_already_satisfied));
    promise<int> const moved(std::move(p));
    EXPECT_EQ(error_of([&] { p.set_value(3); }), make_error_code(errc::no_state));
    EXPECT_EQ(f.get(), 1);
}

TEST_P(future_test, a_promise_that_is_not_kept_is_an_exception) {
    future<int> f;
    {
        promise<int> p;
        f = p.get_future();
    }
    EXPECT_EQ(error_of([&f] { f.get(); }), make_error_code(errc::broken_promise));
    promise<int> p;
    f = p.get_future();
    p = promise<int>();
    EXPECT_EQ(error_of([&f] { f.get(); }), make_error_code(errc::broken_promise));
}

struct cannot_be_made {
    explicit cannot_be_made(int) { throw std::length_error("too long"); }
};
TEST_P(future_test, a_value_that_cannot_be_made_is_an_exception) {
    promise<cannot_be_made> p;
    p.set_value(1);
    EXPECT_THROW(p.get_future().get(), std::length_error);
}

// --- then ----------------------------------------------------------------------------------------

TEST_P(future_test, continuations_take_the_value_or_the_future) {
    promise<int> p;
    auto value = p.get_future().then([](int v) { return v + 1; }).then([](int v) {
        return std::to_string(v);
    });
    promise<int> q;
    auto whole = q.get_future().then([](future<int> f) { return f.get() * 2; });
    p.set_value(4);
    q.set_value(5);
    EXPECT_EQ(value.get(), "5");
    EXPECT_EQ(whole.get(), 10);
    EXPECT_EQ(make_ready_future(6).then([](int v) { return v * v; }).get(), 36);
    make_ready_future().then([] {}).get();
    EXPECT_EQ(make_ready_future().then([](future<void> f) { return f.try_wait(); }).get(), true);
    EXPECT_EQ(*make_ready_future(std::make_unique<int>(7))
                   .then([](std::unique_ptr<int> v) { return v; })
                   .get(),
              7);
}

TEST_P(future_test, exceptions_go_past_continuations_that_want_a_value) {
    bool called = false;
    auto f = async([]() -> int { throw std::out_of_range("far"); }).then([&called](int v) {
        called = true;
        return v;
    });
    auto caught = f.then([](future<int> g) {
        try {
            return g.get();
        } catch (std::out_of_range const&) {
            return -1;
        }
    });
    EXPECT_EQ(caught.get(), -1);
    EXPECT_FALSE(called);
    EXPECT_THROW(
        make_ready_future(1).then([](int) -> int { throw std::logic_error("in it"); }).get(),
        std::logic_error);
}

TEST_P(future_test, a_continuation_that_returns_a_future_has_its_result) {
    promise<int> p;
    future<std::string> f = async([] { return 1; }).then([&p](int) {
        return p.get_future().then([](int v) { return std::to_string(v); });
    });
    EXPECT_FALSE(f.wait_for(300us));
    p.set_value(9);
    EXPECT_EQ(f.get(), "9");
    EXPECT_THROW(make_ready_future()
                     .then([] { return make_exceptional_future<int>(std::make_exception_ptr(7)); })
                     .get(),
                 int);
    EXPECT_EQ(error_of([] { make_ready_future().then([] { return future<int>(); }).get(); }),
              make_error_code(errc::broken_promise));
}

TEST_P(future_test, continuations_may_wait) {
    latch open(1);
    promise<void> p;
    auto f = p.get_future().then([&open] { open.wait(); });
    p.set_value();
    open.count_down();
    f.get();
}

// What a continuation has captured is destroyed where an exception goes past it.
struct waits_at_its_end {
    waits_at_its_end(latch& reached, latch& until) : begins(&reached), ends(&until) {}
    waits_at_its_end(waits_at_its_end&& other) noexcept
        : begins(std::exchange(other.begins, nullptr)), ends(other.ends) {}
    waits_at_its_end& operator=(waits_at_its_end&&) = delete;
    ~waits_at_its_end() {
        if (begins == nullptr) return;
        begins->count_down();
        ends->wait();
    }
    latch* begins;
    latch* ends;
};
void wait_in_a_destructor() {
    latch begun(1), go_on(1);
    promise<int> fails, comes;
    future<int> const failed =
        fails.get_future().then([w = waits_at_its_end(begun, go_on)](int v) { return v; });
    future<void> const done = comes.get_future().then([&go_on](int) { go_on.count_down(); });
    auto one = spawn([&] { fails.set_exception(std::make_exception_ptr(std::runtime_error(""))); });
    auto other = spawn([&] {
        begun.wait();
        comes.set_value(1);
    });
    other.join();
    one.join();
    done.wait();
    failed.wait();
}
// Often, as the thread that waits is to go on on another worker now and then.
TEST_P(future_test, one_that_is_destroyed_for_long_holds_up_no_other) {
    for (int round = 0; round < 10'000; ++round) wait_in_a_destructor();
}

TEST_P(future_test, a_long_chain) {
    promise<int> p;
    future<int> f = p.get_future();
    for (int k = 0; k < 20000; ++k) f = f.then([](int v) { return v + 1; });
    p.set_value(0);
    EXPECT_EQ(f.get(), 20000);
}

// --- when_all, when_any --------------------------------------------------------------------------

TEST_P(future_test, all_of_several) {
    promise<int> p;
    auto f = when_all(p.get_future(), async([] { return std::string("a"); }), make_ready_future());
    EXPECT_FALSE(f.wait_for(300us));
    p.set_value(2);
    auto [number, text, nothing] = f.get();
    EXPECT_EQ(number.get(), 2);
    EXPECT_EQ(text.get(), "a");
    EXPECT_TRUE(nothing.try_wait());
    std::vector<future<int>> many;
    for (int k = 0; k < 200; ++k) many.push_back(async([k] { return k; }));
    int sum = 0;
    for (auto& each : when_all(std::move(many)).get()) sum += each.get();
    EXPECT_EQ(sum, 199 * 200 / 2);
    EXPECT_TRUE(when_all(std::vector<future<int>>()).get().empty());
    EXPECT_EQ(std::tuple_size_v<decltype(when_all().get())>, 0U);
}

TEST_P(future_test, an_exception_among_all_is_in_its_future) {
    auto f = when_all(async([]() -> int { throw 5; }), async([] { return 6; }));
    auto [bad, good] = f.get();
    EXPECT_THROW(bad.get(), int);
    EXPECT_EQ(good.get(), 6);
}

TEST_P(future_test, any_of_several) {
    std::array<promise<int>, 5> p;
    std::vector<future<int>> futures;
    for (auto& each : p) futures.push_back(each.get_future());
    auto f = when_any(std::move(futures));
    EXPECT_FALSE(f.try_wait());
    p[3].set_value(33);
    auto [index, all] = f.get();
    EXPECT_EQ(index, 3U);
    EXPECT_EQ(all[3].get(), 33);
    for (std::size_t k = 0; k < 5; ++k) {
        if (k != 3) p[k].set_value(static_cast<int>(k));
    }
    EXPECT_EQ(all[4].get(), 4);
    promise<std::string> never;
    auto mixed = when_any(never.get_future(), make_ready_future(1)).get();
    EXPECT_EQ(mixed.index, 1U);
    EXPECT_EQ(std::get<1>(mixed.futures).get(), 1);
    EXPECT_EQ(when_any(std::vector<future<int>>()).get().index, static_cast<std::size_t>(-1));
}

TEST_P(future_test, invalid_futures_among_several) {
    EXPECT_EQ(error_of([] { static_cast<void>(when_all(make_ready_future(1), future<int>())); }),
              make_error_code(errc::no_state));
    EXPECT_EQ(error_of([] { static_cast<void>(when_any(future<int>())); }),
              make_error_code(errc::no_state));
}

// --- limits --------------------------------------------------------------------------------------

int fib_in(spawn_group& g, int n) {
    if (n < 2) return n;
    auto left = async(g, [&g, n] { return fib_in(g, n - 1); });
    auto right = async(g, [&g, n] { return fib_in(g, n - 2); });
    return left.get() + right.get();
}
TEST_P(future_test, of_a_group) {
    for (auto const policy : {when_full::run_inline, when_full::record, when_full::block}) {
        for (std::size_t const most : {1U, 4U}) {
            spawn_group g(most, policy);
            EXPECT_EQ(async(g, [&g] { return fib_in(g, 13); }).get(), 233);
            EXPECT_THROW(async(g, []() -> int { throw std::runtime_error("mine"); }).get(),
                         std::runtime_error);
            EXPECT_NO_THROW(g.join());
        }
    }
}

// --- everything at random ------------------------------------------------------------------------

// A future of `value`, made in one of many ways.
future<std::uint64_t> grow(std::uint64_t seed, std::uint64_t value, int depth) {
    base::rng r(seed);
    std::uint64_t const next = r.next();
    switch (depth == 0 ? r.below(2) : r.below(7)) {
        case 0: return make_ready_future(value);
        case 1: return async([value] { return value; });
        case 2: return grow(next, value - 1, depth - 1).then([](std::uint64_t v) { return v + 1; });
        case 3:
            return grow(next, 0, depth - 1).then([=](future<std::uint64_t> f) {
                return grow(next + 1, value + f.get(), depth - 1);
            });
        case 4:
            return when_all(grow(next, value / 2, depth - 1),
                            grow(next + 1, value - value / 2, depth - 1))
                .then([](auto f) {
                    auto [a, b] = f.get();
                    return a.get() + b.get();
                });
        case 5:
            return when_any(grow(next, value, depth - 1), grow(next + 1, value, depth - 1))
                .then([](auto f) {
                    auto first = f.get();
                    return first.index == 0 ? std::get<0>(first.futures).get()
                                            : std::get<1>(first.futures).get();
                });
        default: return async([=] { return grow(next, value, depth - 1).get(); });
    }
}
TEST_P(future_test, random_expressions) {
    std::uint64_t const seed = test_seed();
    for (std::uint64_t k = 0; k < 100; ++k)
        EXPECT_EQ(grow(seed + k, 1000 + k, 7).get(), 1000 + k) << k;
}

// On a stack that a frame for each link would overflow.
template <class Break> void break_a_long_chain(Break break_it) {
    constexpr int k_links = 20'000;
    spawn(attributes{.stack_size = 64 * 1024}, [break_it] {
        promise<int> p;
        future<int> last = p.get_future();
        for (int k = 0; k < k_links; ++k) last = last.then([](int x) { return x + 1; });
        break_it(std::move(p), std::move(last), k_links);
    }).join();
}

TEST(future_chain, carries_an_exception_any_distance) {
    break_a_long_chain([](promise<int> p, future<int> last, int) {
        p.set_exception(std::make_exception_ptr(7));
        EXPECT_THROW(static_cast<void>(last.get()), int);
    });
}

TEST(future_chain, carries_a_broken_promise_any_distance) {
    break_a_long_chain([](promise<int> p, future<int> last, int) {
        { promise<int> const dropped = std::move(p); }
        EXPECT_THROW(static_cast<void>(last.get()), std::future_error);
    });
}

TEST(future_chain, may_be_abandoned) {
    break_a_long_chain([](promise<int> p, future<int> last, int) {
        last = {};
        { promise<int> const dropped = std::move(p); }
    });
}

TEST(future_chain, may_be_abandoned_before_the_value_comes) {
    break_a_long_chain([](promise<int> p, future<int> last, int) {
        last = {};
        p.set_value(1);
    });
}

TEST(future_chain, carries_a_value_any_distance) {
    break_a_long_chain([](promise<int> p, future<int> last, int links) {
        p.set_value(1);
        EXPECT_EQ(last.get(), links + 1);
    });
}

} // namespace

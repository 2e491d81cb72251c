// SPDX-License-Identifier: Apache-2.0
// Threads that have not begun, the queues that programs keep them in, and hints.
#include "support.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

namespace {

using namespace myth_test;

struct run_queue : running_library {};
struct many_queues : running_library {
    many_queues() : running_library(4) {}
};
// Tickets run when main waits, so that the queues are still in between.
struct quiet_queue : running_library {
    quiet_queue() : running_library(1) {}
};

void* plus_one(void* number) { return static_cast<char*>(number) + 1; }
myth_thread_t late(std::intptr_t number, myth_thread_attr_t* how = nullptr) {
    myth_thread_t const made = myth_create_nosched(&plus_one, as_pointer(number), how);
    EXPECT_NE(made, nullptr);
    return made;
}
std::intptr_t result_of(myth_thread_t t) {
    void* result = nullptr;
    EXPECT_EQ(myth_join(t, &result), 0);
    return as_number(result);
}

TEST_F(run_queue, starts_what_is_pushed) {
    std::vector<myth_thread_t> all;
    for (int k = 0; k < 100; ++k) all.push_back(late(k));
    for (myth_thread_t const t : all) EXPECT_EQ(myth_tryjoin(t, nullptr), EBUSY);
    for (myth_thread_t const t : all) myth_wsapi_runqueue_push(t);
    for (int k = 0; k < 100; ++k) EXPECT_EQ(result_of(all[static_cast<std::size_t>(k)]), k + 1);
}

TEST_F(run_queue, makes_joiners_wait_until_somebody_pushes) {
    myth_thread_t const t = late(6);
    void* result = nullptr;
    timespec const soon = in_ms(10);
    EXPECT_EQ(myth_timedjoin(t, &result, &soon), EBUSY);
    expect_to_wait([t] { EXPECT_EQ(result_of(t), 7); }, [t] { myth_wsapi_runqueue_push(t); });
    myth_thread_t const other = late(7);
    myth_wsapi_runqueue_push(other);
    timespec const in_a_minute = in_ms(60'000);
    EXPECT_EQ(myth_timedjoin(other, &result, &in_a_minute), 0);
    EXPECT_EQ(as_number(result), 8);
}

TEST_F(run_queue, runs_what_is_detached_before_or_after_its_push) {
    static std::atomic<int> ran;
    ran = 0;
    myth_func_t const count = [](void*) -> void* {
        ++ran;
        return nullptr;
    };
    myth_thread_attr_t how;
    myth_thread_attr_init(&how);
    how.detachstate = PTHREAD_CREATE_DETACHED;
    for (int k = 0; k < 50; ++k) {
        myth_thread_t const before = myth_create_nosched(count, nullptr, nullptr);
        EXPECT_EQ(myth_detach(before), 0);
        myth_wsapi_runqueue_push(before);
        myth_thread_t const after = myth_create_nosched(count, nullptr, nullptr);
        myth_wsapi_runqueue_push(after);
        EXPECT_EQ(myth_detach(after), 0);
        myth_wsapi_runqueue_push(myth_create_nosched(count, nullptr, &how));
    }
    while (ran != 150) myth_yield();
}

TEST_F(quiet_queue, has_its_ends) {
    myth_thread_t const a = late(1), b = late(2), c = late(3);
    EXPECT_EQ(myth_wsapi_runqueue_pop(), nullptr);
    EXPECT_EQ(myth_wsapi_runqueue_take(0, nullptr, nullptr), nullptr);
    EXPECT_EQ(myth_wsapi_runqueue_peek(0, nullptr, nullptr), nullptr);
    for (myth_thread_t const t : {a, b}) myth_wsapi_runqueue_push(t);
    EXPECT_EQ(myth_wsapi_runqueue_pass(0, c), 1); // c a b
    EXPECT_EQ(myth_wsapi_runqueue_peek(0, nullptr, nullptr), c);
    EXPECT_EQ(myth_wsapi_runqueue_pop(), b);                     // c a
    EXPECT_EQ(myth_wsapi_runqueue_take(0, nullptr, nullptr), c); // a
    EXPECT_EQ(myth_wsapi_runqueue_take(
                  0, [](myth_thread_t, void*) { return 0; }, nullptr),
              nullptr);
    EXPECT_EQ(myth_wsapi_runqueue_take(
                  0, [](myth_thread_t t, void* wanted) { return t == wanted ? 1 : 0; }, a),
              a);
    EXPECT_EQ(myth_wsapi_runqueue_pop(), nullptr);
    for (myth_thread_t const t : {a, b, c}) myth_wsapi_runqueue_push(t);
    EXPECT_EQ(result_of(a), 2);
    EXPECT_EQ(result_of(b), 3);
    EXPECT_EQ(result_of(c), 4);
}

TEST_F(quiet_queue, refuses_what_is_in_one_or_has_begun) {
    auto const error_of_push = [](myth_thread_t t) {
        errno = 0;
        myth_wsapi_runqueue_push(t);
        return errno;
    };
    myth_thread_t const t = late(1);
    EXPECT_EQ(error_of_push(t), 0);
    EXPECT_EQ(error_of_push(t), EINVAL);
    EXPECT_EQ(myth_wsapi_runqueue_pass(0, t), 0);
    thread running([]() -> void* { return nullptr; });
    EXPECT_EQ(error_of_push(running.handle()), EINVAL);
    EXPECT_EQ(error_of_push(nullptr), EINVAL);
    EXPECT_EQ(error_of_push(myth_self()), EINVAL);
    myth_thread_t const other = late(2);
    for (int const nobody : {-1, 1, INT_MAX}) {
        EXPECT_EQ(myth_wsapi_runqueue_pass(nobody, other), 0);
        EXPECT_EQ(myth_wsapi_runqueue_take(nobody, nullptr, nullptr), nullptr);
        EXPECT_EQ(myth_wsapi_runqueue_peek(nobody, nullptr, nullptr), nullptr);
    }
    EXPECT_EQ(error_of_push(other), 0);
    EXPECT_EQ(result_of(t), 2);
    EXPECT_EQ(result_of(other), 3);
    EXPECT_EQ(myth_create_nosched(nullptr, nullptr, nullptr), nullptr);
}

TEST_F(run_queue, is_open_to_os_threads) {
    myth_thread_t const t = late(1);
    std::thread([t] { myth_wsapi_runqueue_push(t); }).join();
    EXPECT_EQ(result_of(t), 2);
}

std::atomic<int> s_asked{0};
myth_thread_t s_hidden = nullptr;
myth_thread_t give_hidden(int rank) {
    EXPECT_GE(rank, 0);
    ++s_asked;
    return std::exchange(s_hidden, nullptr);
}
myth_thread_t give_nothing(int) {
    ++s_asked;
    return nullptr;
}

// The ticket of `lure`, which is taken out of the queue, finds what the function gives.
TEST_F(quiet_queue, asks_the_steal_function) {
    myth_steal_func_t const before = myth_wsapi_set_stealfunc(&give_hidden);
    EXPECT_NE(before, nullptr);
    s_asked = 0;
    s_hidden = late(10);
    myth_thread_t const hidden = s_hidden, lure = late(20);
    myth_wsapi_runqueue_push(lure);
    EXPECT_EQ(myth_wsapi_runqueue_pop(), lure);
    EXPECT_EQ(result_of(hidden), 11);
    EXPECT_EQ(s_asked, 1);
    EXPECT_EQ(myth_wsapi_set_stealfunc(nullptr), &give_hidden);
    EXPECT_EQ(myth_wsapi_set_stealfunc(before), before); // null stood for it
    myth_wsapi_runqueue_push(lure);
    EXPECT_EQ(result_of(lure), 21);
}

TEST_F(run_queue, forgets_nothing_whatever_the_steal_function_says) {
    myth_wsapi_set_stealfunc(&give_nothing);
    std::vector<myth_thread_t> all;
    for (int k = 0; k < 200; ++k) all.push_back(late(k));
    for (std::size_t k = 0; k < all.size(); ++k)
        EXPECT_EQ(myth_wsapi_runqueue_pass(static_cast<int>(k % 2), all[k]), 1);
    for (std::size_t k = 0; k < all.size(); ++k)
        EXPECT_EQ(result_of(all[k]), static_cast<std::intptr_t>(k) + 1);
    myth_wsapi_set_stealfunc(nullptr);
}

// The ticket of a thread in the queue of a worker that is busy runs at the other one. What it is
// given then is in a queue still, and cannot begin.
TEST_F(run_queue, forgets_nothing_where_the_steal_function_takes_nothing_out) {
    std::atomic<int> busy{-1};
    std::atomic<bool> may_end{false};
    thread computes([&]() -> void* {
        busy = myth_get_worker_num();
        while (!may_end) {}
        return nullptr;
    });
    while (busy == -1) myth_yield();
    static int s_shown;
    s_shown = busy;
    myth_wsapi_set_stealfunc(
        [](int) { return myth_wsapi_runqueue_peek(s_shown, nullptr, nullptr); });
    myth_thread_t const t = late(1);
    EXPECT_EQ(myth_wsapi_runqueue_pass(s_shown, t), 1);
    timespec const patience = in_ms(20'000);
    void* result = nullptr;
    EXPECT_EQ(myth_timedjoin(t, &result, &patience), 0);
    EXPECT_EQ(as_number(result), 2);
    may_end = true;
    myth_wsapi_set_stealfunc(nullptr);
}

// Threads come into queues that a ticket has searched already, and go from those ahead of it.
TEST_F(many_queues, forget_nothing_that_comes_behind_a_ticket) {
    myth_wsapi_set_stealfunc(&give_nothing);
    for (int round = 0; round < 50'000; ++round) {
        std::array<myth_thread_t, 6> all{};
        for (std::size_t k = 0; k < all.size(); ++k) {
            all[k] = late(static_cast<std::intptr_t>(k));
            EXPECT_EQ(myth_wsapi_runqueue_pass((static_cast<int>(k) * 3 + round) % 4, all[k]), 1);
            if (k == 3) myth_yield();
        }
        timespec const patience = in_ms(60'000);
        for (std::size_t k = 0; k < all.size(); ++k)
            ASSERT_EQ(myth_timedjoin(all[k], nullptr, &patience), 0) << round << ", " << k;
    }
    myth_wsapi_set_stealfunc(nullptr);
}

// Each thread is taken out and put back while tickets run.
TEST_F(run_queue, forgets_nothing_while_it_is_rearranged) {
    std::vector<myth_thread_t> all;
    for (int k = 0; k < 500; ++k) all.push_back(late(k));
    thread rearranges([]() -> void* {
        for (int k = 0; k < 2000; ++k) {
            myth_thread_t const t = myth_wsapi_runqueue_take(k % 2, nullptr, nullptr);
            if (t != nullptr) {
                EXPECT_EQ(myth_wsapi_runqueue_pass(1 - k % 2, t), 1);
            }
            if (k % 8 == 0) myth_yield();
        }
        return nullptr;
    });
    for (myth_thread_t const t : all) myth_wsapi_runqueue_push(t);
    for (std::size_t k = 0; k < all.size(); ++k)
        EXPECT_EQ(result_of(all[k]), static_cast<std::intptr_t>(k) + 1);
}

// --- hints ---------------------------------------------------------------------------------------

TEST_F(quiet_queue, shows_hints) {
    char const text[] = "large";
    myth_thread_attr_t how;
    myth_thread_attr_init(&how);
    how.custom_data = const_cast<char*>(text);
    how.custom_data_size = sizeof text;
    myth_thread_t const t = late(1, &how);
    EXPECT_EQ(myth_wsapi_get_hint_size(t), sizeof text);
    EXPECT_NE(myth_wsapi_get_hint_ptr(t), text); // a copy
    EXPECT_STREQ(static_cast<char*>(myth_wsapi_get_hint_ptr(t)), "large");
    myth_wsapi_runqueue_push(t);
    std::array<char, 8> seen{};
    size_t size = seen.size();
    EXPECT_EQ(myth_wsapi_runqueue_peek(0, seen.data(), &size), t);
    EXPECT_EQ(size, sizeof text);
    EXPECT_STREQ(seen.data(), "large");
    size = 3;
    EXPECT_EQ(myth_wsapi_runqueue_peek(0, seen.data(), &size), t);
    EXPECT_EQ(size, 3U);
    EXPECT_EQ(myth_wsapi_runqueue_peek(0, nullptr, &size), t);
    EXPECT_EQ(size, 0U);
    myth_thread_attr_t attributes;
    EXPECT_EQ(myth_getattr_np(t, &attributes), 0);
    EXPECT_EQ(attributes.custom_data_size, sizeof text);
    EXPECT_EQ(result_of(t), 2);
}

TEST_F(run_queue, lets_hints_be_swapped) {
    int mine = 1;
    void* data = &mine;
    size_t size = sizeof mine;
    myth_wsapi_set_hint(nullptr, &data, &size); // main's
    EXPECT_EQ(data, nullptr);
    EXPECT_EQ(size, 0U);
    EXPECT_EQ(myth_wsapi_get_hint_ptr(nullptr), &mine);
    EXPECT_EQ(myth_wsapi_get_hint_size(nullptr), sizeof mine);
    thread t([]() -> void* {
        EXPECT_EQ(myth_wsapi_get_hint_ptr(nullptr), nullptr);
        EXPECT_EQ(myth_wsapi_get_hint_size(nullptr), 0U);
        return nullptr;
    });
    myth_wsapi_set_hint(t.handle(), &data, &size);
    EXPECT_EQ(myth_wsapi_get_hint_size(t.handle()), 0U);
    errno = 0;
    myth_wsapi_set_hint(nullptr, nullptr, &size);
    EXPECT_EQ(errno, EINVAL);
    myth_wsapi_set_hint(nullptr, &data, nullptr);
    EXPECT_EQ(myth_wsapi_get_hint_ptr(nullptr), &mine);
}

TEST_F(run_queue, draws_workers) {
    std::set<int> drawn;
    for (int k = 0; k < 200; ++k) drawn.insert(myth_wsapi_rand());
    EXPECT_EQ(drawn, (std::set<int>{0, 1}));
    std::array<int, 3> all{-1, -1, -1};
    myth_wsapi_randarr(all.data(), 2);
    EXPECT_EQ(std::set<int>(all.begin(), all.begin() + 2), (std::set<int>{0, 1}));
    EXPECT_EQ(all[2], -1);
    myth_wsapi_randarr(all.data(), 3); // there are two
    EXPECT_EQ(all[2], -1);
    myth_wsapi_randarr(nullptr, 2);
    myth_wsapi_randarr(all.data(), -1);
    drawn.clear();
    for (int k = 0; k < 200; ++k) drawn.insert(myth_wsapi_rand2(5, 8));
    EXPECT_EQ(drawn, (std::set<int>{5, 6, 7}));
    EXPECT_EQ(myth_wsapi_rand2(5, 5), 5);
    EXPECT_EQ(myth_wsapi_rand2(5, 1), 5);
    static_cast<void>(myth_wsapi_rand2(INT_MIN, INT_MAX));
}

} // namespace

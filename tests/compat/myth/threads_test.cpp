// SPDX-License-Identifier: Apache-2.0
// Threads, how they are made, how they end and who waits for them.
#include "support.hpp"

#include <tulle.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include <alloca.h>
#include <unistd.h>

namespace {

using namespace myth_test;

struct threads : running_library {};
struct one_worker : running_library {
    one_worker() : running_library(1) {}
};
using attributes = threads;
using cancellation = threads;

void* plus_one(void* number) { return static_cast<char*>(number) + 1; }

TEST_F(threads, return_values_and_pass_arguments) {
    void* result = nullptr;
    ASSERT_EQ(myth_join(myth_create(&plus_one, as_pointer(41)), &result), 0);
    EXPECT_EQ(as_number(result), 42);
    EXPECT_EQ(myth_join(myth_create(&plus_one, nullptr), nullptr), 0);
}

TEST_F(threads, are_joined_in_any_order) {
    std::vector<myth_thread_t> all;
    for (std::intptr_t k = 0; k < 1000; ++k) all.push_back(myth_create(&plus_one, as_pointer(k)));
    for (std::size_t k = 0; k < 1000; ++k) {
        std::size_t const other = k * 7 % 1000;
        void* result = nullptr;
        ASSERT_EQ(myth_join(all[other], &result), 0);
        ASSERT_EQ(as_number(result), static_cast<std::intptr_t>(other) + 1);
    }
}

void* sum_below(void* of) {
    auto const n = as_number(of);
    if (n < 2) return as_pointer(n);
    myth_thread_t const child = myth_create(&sum_below, as_pointer(n - 1));
    std::intptr_t const mine = as_number(sum_below(as_pointer(n - 2)));
    void* result = nullptr;
    EXPECT_EQ(myth_join(child, &result), 0);
    return as_pointer(mine + as_number(result));
}
TEST_F(threads, make_threads) { EXPECT_EQ(as_number(sum_below(as_pointer(15))), 610); }

TEST_F(one_worker, run_before_their_creator_goes_on) {
    bool ran = false;
    thread t([&ran] {
        ran = true;
        return nullptr;
    });
    EXPECT_TRUE(ran);
}

// The child computes until main has gone on, which another worker must take.
TEST_F(threads, let_main_go_on_elsewhere_at_once) {
    std::atomic<bool> main_went_on{false};
    for (int round = 0; round < 20; ++round) {
        main_went_on = false;
        thread t([&main_went_on]() -> void* {
            while (!main_went_on) {}
            return nullptr;
        });
        main_went_on = true;
    }
}

TEST_F(one_worker, run_after_their_creator_where_asked) {
    myth_thread_attr_t how;
    EXPECT_EQ(myth_thread_attr_init(&how), 0);
    EXPECT_EQ(how.child_first, 1);
    how.child_first = 0;
    bool ran = false;
    thread t(
        [&ran] {
            ran = true;
            return nullptr;
        },
        &how);
    EXPECT_FALSE(ran);
    t.join();
    EXPECT_TRUE(ran);
}

TEST_F(one_worker, yield_to_each_other_in_turn) {
    std::vector<int> turns;
    auto const take_turns = [&turns](int me) {
        return [&turns, me]() -> void* {
            for (int k = 0; k < 3; ++k) {
                turns.push_back(me);
                myth_yield();
            }
            return nullptr;
        };
    };
    {
        thread a(take_turns(1));
        thread b(take_turns(2));
    }
    ASSERT_EQ(turns.size(), 6U);
    EXPECT_EQ(std::count(turns.begin(), turns.end(), 1), 3);
    EXPECT_NE(turns, (std::vector<int>{1, 1, 1, 2, 2, 2}));
}

TEST_F(threads, of_bad_descriptions_are_not_made) {
    errno = 0;
    EXPECT_EQ(myth_create(nullptr, nullptr), nullptr);
    EXPECT_EQ(errno, EINVAL);
    myth_thread_t t = nullptr;
    EXPECT_EQ(myth_create_ex(&t, nullptr, nullptr, nullptr), EINVAL);
    myth_thread_attr_t how;
    myth_thread_attr_init(&how);
    how.detachstate = 77;
    EXPECT_EQ(myth_create_ex(&t, &how, &plus_one, nullptr), EINVAL);
    myth_thread_attr_init(&how);
    how.custom_data_size = 8; // of no data
    EXPECT_EQ(myth_create_ex(&t, &how, &plus_one, nullptr), EINVAL);
    myth_thread_attr_init(&how);
    how.stacksize = SIZE_MAX;
    EXPECT_EQ(myth_create_ex(&t, &how, &plus_one, nullptr), EINVAL);
    how.stacksize = std::size_t{1} << 36;
    EXPECT_EQ(myth_create_ex(&t, &how, &plus_one, nullptr), EINVAL);
    EXPECT_EQ(t, nullptr);
}

TEST_F(threads, without_a_handle_are_detached) {
    std::atomic<int> ran{0};
    job counts = [&ran]() -> void* {
        ++ran;
        return nullptr;
    };
    for (int k = 0; k < 100; ++k) ASSERT_EQ(myth_create_ex(nullptr, nullptr, &run_job, &counts), 0);
    while (ran != 100) myth_yield();
}

TEST_F(threads, are_detached_before_and_after_their_end) {
    std::atomic<bool> may_end{false};
    std::atomic<int> ended{0};
    job waits = [&]() -> void* {
        while (!may_end) myth_yield();
        ++ended;
        return nullptr;
    };
    myth_thread_attr_t how;
    myth_thread_attr_init(&how);
    EXPECT_EQ(myth_thread_attr_setdetachstate(&how, PTHREAD_CREATE_DETACHED), 0);
    myth_thread_t t = nullptr;
    ASSERT_EQ(myth_create_ex(&t, &how, &run_job, &waits), 0); // may go at any time
    ASSERT_EQ(myth_create_ex(&t, nullptr, &run_job, &waits), 0);
    EXPECT_EQ(myth_detach(t), 0);
    may_end = true;
    while (ended != 2) myth_yield();
    t = myth_create(&plus_one, nullptr);
    while (ended != 2) myth_yield();
    EXPECT_EQ(myth_detach(t), 0);
    EXPECT_EQ(myth_detach(nullptr), EINVAL);
    EXPECT_EQ(myth_detach(myth_self()), EINVAL); // main is not of this interface
}

TEST_F(threads, are_joined_once_they_have_ended) {
    std::atomic<bool> may_end{false};
    job waits = [&may_end] {
        while (!may_end) myth_yield();
        return as_pointer(7);
    };
    void* result = nullptr;
    myth_thread_t const t = myth_create(&run_job, &waits);
    EXPECT_EQ(myth_tryjoin(t, &result), EBUSY);
    EXPECT_EQ(myth_timedjoin(t, &result, &k_past), EBUSY);
    timespec const soon = in_ms(20);
    EXPECT_EQ(myth_timedjoin(t, &result, &soon), EBUSY);
    EXPECT_EQ(myth_timedjoin(t, &result, &k_no_time), EINVAL);
    EXPECT_EQ(myth_timedjoin(t, &result, nullptr), EINVAL);
    may_end = true;
    timespec const late = in_ms(60'000);
    EXPECT_EQ(myth_timedjoin(t, &result, &late), 0);
    EXPECT_EQ(as_number(result), 7);
    myth_thread_t const quick = myth_create(&plus_one, as_pointer(1));
    while (myth_tryjoin(quick, &result) == EBUSY) myth_yield();
    EXPECT_EQ(as_number(result), 2);
    for (myth_thread_t const no_thread : {myth_thread_t{}, myth_self()}) {
        EXPECT_EQ(myth_join(no_thread, &result), EINVAL);
        EXPECT_EQ(myth_tryjoin(no_thread, &result), EINVAL);
        EXPECT_EQ(myth_timedjoin(no_thread, &result, &late), EINVAL);
    }
}

TEST_F(threads, do_not_join_themselves) {
    thread t([] {
        EXPECT_EQ(myth_join(myth_self(), nullptr), EDEADLK);
        EXPECT_EQ(myth_tryjoin(myth_self(), nullptr), EDEADLK);
        return nullptr;
    });
}

struct unwound {
    explicit unwound(bool& seen) : told(seen) {}
    ~unwound() { told = true; }
    unwound(unwound const&) = delete;
    unwound& operator=(unwound const&) = delete;
    bool& told;
};
int leave(int depth) {
    if (depth == 0) myth_exit(as_pointer(9));
    return depth < 0 ? depth : leave(depth - 1) + 1;
}
TEST_F(threads, exit_from_any_depth) {
    bool destroyed = false;
    thread t([&destroyed]() -> void* {
        unwound const local(destroyed);
        return as_pointer(leave(20));
    });
    EXPECT_EQ(as_number(t.join()), 9);
    EXPECT_TRUE(destroyed);
}

TEST(exit, of_a_foreign_thread_ends_the_program) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(myth_exit(nullptr), "myth_exit in a thread that myth_create has not made");
}

TEST_F(threads, know_themselves) {
    myth_thread_t const main = myth_self();
    ASSERT_NE(main, nullptr);
    EXPECT_TRUE(myth_equal(main, myth_self()));
    std::atomic<myth_thread_t> seen{nullptr};
    thread t([&seen] {
        seen = myth_self();
        myth_yield();
        EXPECT_EQ(seen, myth_self());
        return nullptr;
    });
    while (seen == nullptr) myth_yield();
    EXPECT_EQ(seen, t.handle());
    EXPECT_FALSE(myth_equal(t.handle(), main));
    std::thread([main] {
        EXPECT_NE(myth_self(), nullptr);
        EXPECT_NE(myth_self(), main);
        EXPECT_EQ(myth_self(), myth_self());
        EXPECT_EQ(myth_is_myth_worker(), 0);
        EXPECT_EQ(myth_get_worker_num(), -1);
        void* result = nullptr;
        EXPECT_EQ(myth_join(myth_create(&plus_one, as_pointer(1)), &result), 0);
        EXPECT_EQ(as_number(result), 2);
    }).join();
}

// A joiner that runs the thread in its own frame is itself again afterwards.
TEST_F(one_worker, know_themselves_while_one_runs_in_the_frame_of_another) {
    myth_thread_attr_t later;
    myth_thread_attr_init(&later);
    later.child_first = 0;
    thread outer([&later] {
        myth_thread_t const me = myth_self();
        thread inner(
            [me] {
                EXPECT_NE(myth_self(), me);
                return nullptr;
            },
            &later);
        inner.join();
        EXPECT_EQ(myth_self(), me);
        return nullptr;
    });
}

TEST_F(threads, know_their_worker) {
    EXPECT_EQ(myth_getconcurrency(), 2);
    EXPECT_EQ(myth_is_myth_worker(), 1);
    thread t([] {
        for (int k = 0; k < 100; ++k) {
            EXPECT_GE(myth_get_worker_num(), 0);
            EXPECT_LT(myth_get_worker_num(), 2);
            myth_yield();
        }
        return nullptr;
    });
}

TEST_F(threads, let_others_run_in_all_ways) {
    for (int option = -1; option <= myth_yield_option_steal_first + 1; ++option)
        myth_yield_ex(option);
    EXPECT_EQ(myth_sched_yield(), 0);
}

TEST_F(threads, sleep) {
    auto const began = std::chrono::steady_clock::now();
    timespec const ms{0, 5'000'000};
    timespec rest{7, 7};
    EXPECT_EQ(myth_nanosleep(&ms, &rest), 0);
    EXPECT_EQ(rest.tv_sec, 0);
    EXPECT_EQ(rest.tv_nsec, 0);
    EXPECT_EQ(myth_nanosleep(&ms, nullptr), 0);
    EXPECT_EQ(myth_usleep(5000), 0);
    EXPECT_EQ(myth_sleep(0), 0U);
    EXPECT_GE(std::chrono::steady_clock::now() - began, std::chrono::milliseconds(15));
    EXPECT_EQ(myth_nanosleep(nullptr, nullptr), EINVAL);
    EXPECT_EQ(myth_nanosleep(&k_no_time, nullptr), EINVAL);
    timespec const negative{-1, 0};
    EXPECT_EQ(myth_nanosleep(&negative, nullptr), EINVAL);
}

// --- attributes ----------------------------------------------------------------------------------

TEST_F(attributes, of_a_thread_are_kept) {
    myth_thread_attr_t how;
    ASSERT_EQ(myth_thread_attr_init(&how), 0);
    int state = -1;
    size_t size = 0;
    void* address = nullptr;
    EXPECT_EQ(myth_thread_attr_getdetachstate(&how, &state), 0);
    EXPECT_EQ(state, PTHREAD_CREATE_JOINABLE);
    EXPECT_EQ(myth_thread_attr_getstacksize(&how, &size), 0);
    EXPECT_EQ(size, 131072U);
    EXPECT_EQ(myth_thread_attr_setguardsize(&how, 8192), 0);
    EXPECT_EQ(myth_thread_attr_getguardsize(&how, &size), 0);
    EXPECT_EQ(size, 8192U);
    EXPECT_EQ(myth_thread_attr_setstacksize(&how, 65536), 0);
    EXPECT_EQ(myth_thread_attr_getstacksize(&how, &size), 0);
    EXPECT_EQ(size, 65536U);
    static char stack[65536];
    EXPECT_EQ(myth_thread_attr_setstack(&how, stack, sizeof stack), 0);
    EXPECT_EQ(myth_thread_attr_getstack(&how, &address, &size), 0);
    EXPECT_EQ(address, stack);
    EXPECT_EQ(size, sizeof stack);
    EXPECT_EQ(how.custom_data_size, 0U);
    myth_thread_attr_t other;
    ASSERT_EQ(myth_getattr_default_np(&other), 0);
    EXPECT_EQ(other.stacksize, 131072U);
}

TEST_F(attributes, that_make_no_sense_are_refused) {
    myth_thread_attr_t how;
    myth_thread_attr_init(&how);
    int state = 0;
    size_t size = 0;
    void* address = nullptr;
    EXPECT_EQ(myth_thread_attr_init(nullptr), EINVAL);
    EXPECT_EQ(myth_getattr_default_np(nullptr), EINVAL);
    EXPECT_EQ(myth_getattr_np(nullptr, &how), EINVAL);
    EXPECT_EQ(myth_getattr_np(myth_self(), nullptr), EINVAL);
    EXPECT_EQ(myth_thread_attr_getdetachstate(nullptr, &state), EINVAL);
    EXPECT_EQ(myth_thread_attr_getdetachstate(&how, nullptr), EINVAL);
    EXPECT_EQ(myth_thread_attr_setdetachstate(nullptr, 0), EINVAL);
    EXPECT_EQ(myth_thread_attr_setdetachstate(&how, 5), EINVAL);
    EXPECT_EQ(myth_thread_attr_getguardsize(nullptr, &size), EINVAL);
    EXPECT_EQ(myth_thread_attr_getguardsize(&how, nullptr), EINVAL);
    EXPECT_EQ(myth_thread_attr_setguardsize(nullptr, 1), EINVAL);
    EXPECT_EQ(myth_thread_attr_getstacksize(nullptr, &size), EINVAL);
    EXPECT_EQ(myth_thread_attr_getstacksize(&how, nullptr), EINVAL);
    EXPECT_EQ(myth_thread_attr_setstacksize(nullptr, 1), EINVAL);
    EXPECT_EQ(myth_thread_attr_setstacksize(&how, 0), EINVAL);
    EXPECT_EQ(myth_thread_attr_getstack(nullptr, &address, &size), EINVAL);
    EXPECT_EQ(myth_thread_attr_getstack(&how, nullptr, &size), EINVAL);
    EXPECT_EQ(myth_thread_attr_getstack(&how, &address, nullptr), EINVAL);
    EXPECT_EQ(myth_thread_attr_setstack(nullptr, &how, 1), EINVAL);
    EXPECT_EQ(myth_thread_attr_setstack(&how, nullptr, 1), EINVAL);
    EXPECT_EQ(myth_thread_attr_setstack(&how, &how, 0), EINVAL);
}

// Writes to so much stack.
std::intptr_t use_stack(std::size_t bytes) {
    auto* const area = static_cast<volatile char*>(alloca(bytes));
    std::intptr_t sum = 0;
    for (std::size_t k = 0; k < bytes; k += 512) {
        area[k] = 1;
        sum += area[k];
    }
    return sum;
}
TEST_F(attributes, give_as_much_stack_as_they_say) {
    for (std::size_t const kib : {4U, 16U, 64U, 128U, 256U, 1024U, 8192U}) {
        myth_thread_attr_t how;
        myth_thread_attr_init(&how);
        how.stacksize = kib * 1024;
        thread t([kib] { return as_pointer(use_stack(kib * 1024 - 3000)); }, &how);
        myth_thread_attr_t seen;
        EXPECT_EQ(myth_getattr_np(t.handle(), &seen), 0);
        EXPECT_EQ(seen.stacksize, kib * 1024);
        EXPECT_GT(as_number(t.join()), 0);
    }
    thread t([] { return as_pointer(use_stack(131072 - 3000)); }); // the default
}

// Of a Tulle whose own stacks are smaller.
TEST(attributes_beside_small_stacks, give_as_much_stack_as_they_say) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    auto const has_what_it_asks_for = [](std::size_t asked) {
        myth_init();
        myth_thread_attr_t how;
        myth_thread_attr_init(&how);
        bool const is_told = how.stacksize < 65536;
        if (asked != 0) how.stacksize = asked;
        std::size_t const used = how.stacksize - 3000;
        thread t([used] { return as_pointer(use_stack(used)); }, &how);
        return as_number(t.join()) > 0 && is_told;
    };
    for (std::size_t const asked : {0U, 65536U, 131072U}) {
        EXPECT_EXIT(
            {
                setenv("TULLE_STACK_SIZE", "64K", 1);
                std::_Exit(has_what_it_asks_for(asked) ? 0 : 1);
            },
            testing::ExitedWithCode(0), "")
            << asked;
        EXPECT_EXIT(
            {
                tulle_set_option("stack_size", "64K");
                tulle_init(nullptr);
                std::_Exit(has_what_it_asks_for(asked) ? 0 : 1);
            },
            testing::ExitedWithCode(0), "")
            << asked;
    }
    EXPECT_EXIT(
        {
            setenv("TULLE_STACK_SIZE", "64K", 1);
            setenv("MYTH_DEF_STKSIZE", "131072", 1);
            thread t([] { return as_pointer(use_stack(131072 - 3000)); });
            std::_Exit(as_number(t.join()) > 0 ? 0 : 1);
        },
        testing::ExitedWithCode(0), "");
}

TEST(global_attributes, are_kept) {
    myth_globalattr_t a;
    ASSERT_EQ(myth_globalattr_init(&a), 0);
    size_t size = 0;
    int flag = -1;
    EXPECT_EQ(myth_globalattr_set_stacksize(&a, 65536), 0);
    EXPECT_EQ(myth_globalattr_get_stacksize(&a, &size), 0);
    EXPECT_EQ(size, 65536U);
    EXPECT_EQ(myth_globalattr_set_guardsize(&a, 0), 0);
    EXPECT_EQ(myth_globalattr_get_guardsize(&a, &size), 0);
    EXPECT_EQ(size, 0U);
    EXPECT_EQ(myth_globalattr_set_n_workers(&a, 3), 0);
    EXPECT_EQ(myth_globalattr_get_n_workers(&a, &size), 0);
    EXPECT_EQ(size, 3U);
    EXPECT_EQ(myth_globalattr_set_bind_workers(&a, 0), 0);
    EXPECT_EQ(myth_globalattr_get_bind_workers(&a, &flag), 0);
    EXPECT_EQ(flag, 0);
    EXPECT_EQ(myth_globalattr_set_child_first(&a, 0), 0);
    EXPECT_EQ(myth_globalattr_get_child_first(&a, &flag), 0);
    EXPECT_EQ(flag, 0);
    EXPECT_EQ(myth_globalattr_destroy(&a), 0);
    // Those of the next start.
    EXPECT_EQ(myth_globalattr_get_n_workers(nullptr, &size), 0);
    EXPECT_GE(size, 1U);
    EXPECT_EQ(myth_globalattr_get_stacksize(nullptr, &size), 0);
    EXPECT_EQ(size, 131072U);
}

TEST(global_attributes, that_make_no_sense_are_refused) {
    myth_globalattr_t a;
    EXPECT_EQ(myth_globalattr_init(nullptr), EINVAL);
    EXPECT_EQ(myth_globalattr_destroy(nullptr), EINVAL);
    ASSERT_EQ(myth_globalattr_init(&a), 0);
    EXPECT_EQ(myth_globalattr_get_stacksize(&a, nullptr), EINVAL);
    EXPECT_EQ(myth_globalattr_set_stacksize(&a, 0), EINVAL);
    EXPECT_EQ(myth_globalattr_get_guardsize(&a, nullptr), EINVAL);
    EXPECT_EQ(myth_globalattr_get_n_workers(&a, nullptr), EINVAL);
    EXPECT_EQ(myth_globalattr_set_n_workers(&a, 0), EINVAL);
    EXPECT_EQ(myth_globalattr_set_n_workers(&a, SIZE_MAX), EINVAL);
    EXPECT_EQ(myth_globalattr_get_bind_workers(&a, nullptr), EINVAL);
    EXPECT_EQ(myth_globalattr_set_bind_workers(&a, 2), EINVAL);
    EXPECT_EQ(myth_globalattr_get_child_first(&a, nullptr), EINVAL);
    EXPECT_EQ(myth_globalattr_set_child_first(&a, -1), EINVAL);
    a.n_workers = INT_MAX;
    errno = 0;
    EXPECT_EQ(myth_init_ex(&a), 0);
    EXPECT_EQ(errno, EINVAL);
    a.n_workers = -1;
    EXPECT_EQ(myth_init_ex(&a), 0);
    myth_globalattr_init(&a);
    EXPECT_EQ(myth_init_ex(&a), 1); // and it starts after all that
    myth_fini();
}

// --- starting ------------------------------------------------------------------------------------

TEST(life, starts_by_the_first_call_and_again_after_its_end) {
    for (int round = 0; round < 5; ++round) {
        ASSERT_EQ(myth_globalattr_set_n_workers(nullptr, static_cast<size_t>(round % 3 + 1)), 0);
        void* result = nullptr;
        ASSERT_EQ(myth_join(myth_create(&plus_one, as_pointer(1)), &result), 0);
        EXPECT_EQ(myth_get_num_workers(), round % 3 + 1);
        EXPECT_EQ(myth_init(), 1);
        myth_fini();
        myth_fini();
    }
}

// The one worker must be free to run main while another thread asks whether all is up.
TEST(life, ends_beside_a_thread_that_starts_it) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(
        {
            alarm(30);
            myth_globalattr_set_n_workers(nullptr, 1);
            myth_init();
            job starts = []() -> void* {
                for (int k = 0; k < 20; ++k) {
                    myth_usleep(1000);
                    if (myth_init() != 1) std::_Exit(1);
                }
                return nullptr;
            };
            myth_create_ex(nullptr, nullptr, &run_job, &starts);
            myth_fini();
            std::_Exit(0);
        },
        testing::ExitedWithCode(0), "");
}

TEST(life, follows_the_environment) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    struct row {
        char const* name;
        char const* value;
        int workers;
    };
    for (row const r : {row{"MYTH_NUM_WORKERS", "3", 3}, row{"MYTH_WORKER_NUM", "3", 3}})
        EXPECT_EXIT(
            {
                setenv(r.name, r.value, 1);
                std::_Exit(myth_get_num_workers() == r.workers ? 0 : 1);
            },
            testing::ExitedWithCode(0), "");
    EXPECT_EXIT(
        {
            setenv("MYTH_NUM_WORKERS", "1", 1);
            setenv("MYTH_CHILD_FIRST", "0", 1);
            setenv("MYTH_DEF_STKSIZE", "1000000", 1);
            setenv("MYTH_DEF_GUARDSIZE", "12288", 1);
            setenv("MYTH_BIND_WORKERS", "0", 1);
            myth_globalattr_t a;
            myth_globalattr_init(&a);
            bool right = a.child_first == 0 && a.stacksize == 1000000 && a.guardsize == 12288 &&
                         a.bind_workers == 0 && a.n_workers == 1;
            bool ran = false;
            thread t([&ran] {
                ran = true;
                return as_pointer(use_stack(990'000));
            });
            right = right && !ran;
            right = right && as_number(t.join()) > 0 && ran;
            std::_Exit(right ? 0 : 1);
        },
        testing::ExitedWithCode(0), "");
    // What makes no sense counts as not set.
    EXPECT_EXIT(
        {
            setenv("MYTH_NUM_WORKERS", "many", 1);
            setenv("MYTH_DEF_STKSIZE", "-5", 1);
            size_t size = 0;
            myth_globalattr_get_stacksize(nullptr, &size);
            std::_Exit(myth_get_num_workers() >= 1 && size == 131072 ? 0 : 1);
        },
        testing::ExitedWithCode(0), "");
}

// --- many at once --------------------------------------------------------------------------------

struct call {
    std::intptr_t number;
    myth_thread_t self;
    void* result;
    myth_thread_t id;
    myth_func_t function;
    myth_thread_attr_t how;
};
void* note_self(void* of) {
    auto& c = *static_cast<call*>(of);
    c.self = myth_self();
    myth_yield();
    return as_pointer(c.number * 2);
}
void* note_self_and_leave(void* of) {
    myth_exit(note_self(of)); // ends the call
}

class many : public threads {
protected:
    static std::vector<call> calls(std::size_t n) {
        std::vector<call> all(n);
        for (std::size_t k = 0; k < n; ++k) {
            all[k].number = static_cast<std::intptr_t>(k);
            all[k].function = k % 3 == 0 ? &note_self_and_leave : &note_self;
            myth_thread_attr_init(&all[k].how);
            all[k].how.child_first = static_cast<int>(k % 2);
            if (k % 5 == 0) all[k].how.stacksize = 65536;
            if (k % 7 == 0) all[k].how.detachstate = PTHREAD_CREATE_DETACHED;
        }
        return all;
    }
    static void expect_done(std::vector<call> const& all) {
        std::set<myth_thread_t> ids;
        for (call const& c : all) {
            EXPECT_EQ(as_number(c.result), c.number * 2);
            EXPECT_EQ(c.id, c.self);
            EXPECT_NE(c.id, nullptr);
        }
    }
};

TEST_F(many, threads_with_strides) {
    for (std::size_t const n : {1U, 2U, 3U, 100U, 1000U}) {
        std::vector<call> all = calls(n);
        ASSERT_EQ(myth_create_join_many_ex(&all[0].id, &all[0].how, &note_self, &all[0],
                                           &all[0].result, sizeof(call), sizeof(call), sizeof(call),
                                           sizeof(call), static_cast<long>(n)),
                  0);
        expect_done(all);
    }
}

TEST_F(many, threads_with_functions_of_their_own) {
    std::vector<call> all = calls(100);
    ASSERT_EQ(myth_create_join_various_ex(&all[0].id, &all[0].how, &all[0].function, &all[0],
                                          &all[0].result, sizeof(call), sizeof(call), sizeof(call),
                                          sizeof(call), sizeof(call), 100),
              0);
    expect_done(all);
}

TEST_F(many, threads_without_all_that_may_be_left_out) {
    static std::atomic<std::intptr_t> sum;
    sum = 0;
    myth_func_t const add = [](void* number) -> void* {
        sum += as_number(number);
        return nullptr;
    };
    EXPECT_EQ(
        myth_create_join_many_ex(nullptr, nullptr, add, as_pointer(1), nullptr, 0, 0, 1, 0, 100),
        0);
    EXPECT_EQ(sum, 5050);
    EXPECT_EQ(myth_create_join_many_ex(nullptr, nullptr, add, nullptr, nullptr, 0, 0, 0, 0, 0), 0);
    EXPECT_EQ(myth_create_join_many_ex(nullptr, nullptr, add, nullptr, nullptr, 0, 0, 0, 0, -1),
              EINVAL);
    EXPECT_EQ(myth_create_join_many_ex(nullptr, nullptr, nullptr, nullptr, nullptr, 0, 0, 0, 0, 1),
              EINVAL);
    EXPECT_EQ(
        myth_create_join_various_ex(nullptr, nullptr, nullptr, nullptr, nullptr, 0, 0, 0, 0, 0, 1),
        EINVAL);
    myth_func_t one_is_null[2] = {add, nullptr};
    EXPECT_EQ(myth_create_join_various_ex(nullptr, nullptr, one_is_null, nullptr, nullptr, 0, 0,
                                          sizeof(myth_func_t), 0, 0, 2),
              EINVAL);
    myth_thread_attr_t bad;
    myth_thread_attr_init(&bad);
    bad.detachstate = 99;
    EXPECT_EQ(myth_create_join_many_ex(nullptr, &bad, add, nullptr, nullptr, 0, 0, 0, 0, 4),
              EINVAL);
    EXPECT_EQ(sum, 5050);
}

// --- cancellation --------------------------------------------------------------------------------

TEST_F(cancellation, happens_where_it_is_tested) {
    std::atomic<bool> is_disabled{false};
    std::atomic<bool> asked{false};
    std::atomic<int> passed{0};
    thread t([&]() -> void* {
        int before = -1;
        myth_testcancel(); // nobody has asked
        EXPECT_EQ(myth_setcancelstate(MYTH_CANCEL_DISABLE, &before), 0);
        EXPECT_EQ(before, MYTH_CANCEL_ENABLE);
        is_disabled = true;
        while (!asked) myth_yield();
        myth_testcancel();
        ++passed;
        EXPECT_EQ(myth_setcancelstate(MYTH_CANCEL_ENABLE, &before), 0);
        EXPECT_EQ(before, MYTH_CANCEL_DISABLE);
        myth_testcancel();
        ++passed;
        return nullptr;
    });
    while (!is_disabled) myth_yield(); // main may be taken by another worker at once
    EXPECT_EQ(myth_cancel(t.handle()), 0);
    asked = true;
    EXPECT_EQ(t.join(), MYTH_CANCELED);
    EXPECT_EQ(passed, 1);
}

TEST_F(cancellation, refuses_what_makes_no_sense) {
    int before = -1;
    EXPECT_EQ(myth_setcancelstate(99, &before), EINVAL);
    EXPECT_EQ(myth_setcancelstate(MYTH_CANCEL_ENABLE, nullptr), 0);
    EXPECT_EQ(myth_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before), EINVAL);
    EXPECT_EQ(myth_setcanceltype(MYTH_CANCEL_DEFERRED, &before), 0);
    EXPECT_EQ(before, MYTH_CANCEL_DEFERRED);
    EXPECT_EQ(myth_setcanceltype(MYTH_CANCEL_DEFERRED, nullptr), 0);
    EXPECT_EQ(myth_cancel(nullptr), EINVAL);
    EXPECT_EQ(myth_cancel(myth_self()), EINVAL); // main is not of this interface
    myth_testcancel();
}

// --- what is not there ---------------------------------------------------------------------------

TEST_F(threads, are_not_moved_between_processes) {
    auto const refused = [](auto action) {
        errno = 0;
        action();
        return errno == ENOSYS;
    };
    EXPECT_TRUE(refused([] { myth_serialize(nullptr, nullptr); }));
    EXPECT_TRUE(refused([] { myth_ext_serialize(nullptr, nullptr); }));
    EXPECT_TRUE(refused([] { EXPECT_EQ(myth_deserialize(nullptr), nullptr); }));
    EXPECT_TRUE(refused([] { EXPECT_EQ(myth_ext_deserialize(nullptr), nullptr); }));
    EXPECT_TRUE(refused([] { EXPECT_EQ(myth_steal(), nullptr); }));
    EXPECT_TRUE(refused([] { EXPECT_EQ(myth_ext_steal(), nullptr); }));
    EXPECT_TRUE(refused([] { myth_import(nullptr); }));
    EXPECT_TRUE(refused([] { myth_ext_import(nullptr); }));
    EXPECT_TRUE(refused([] { myth_release_stack(nullptr); }));
    EXPECT_TRUE(refused([] { myth_release_desc(nullptr); }));
}

TEST_F(threads, take_names_and_keep_no_logs) {
    char name[] = "reader";
    myth_log_start();
    myth_log_pause();
    myth_log_flush();
    myth_log_reset();
    myth_sched_prof_start();
    myth_sched_prof_pause();
    myth_log_annotate_thread(nullptr, name);
    myth_log_annotate_thread(myth_self(), nullptr);
    thread t([&name] {
        myth_log_annotate_thread(myth_self(), name);
        return nullptr;
    });
}

} // namespace

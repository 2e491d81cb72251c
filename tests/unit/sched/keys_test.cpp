// SPDX-License-Identifier: Apache-2.0
#include "runtime_fixture.hpp"

#include "sched/values/keys.hpp"

#include <algorithm>
#include <cerrno>
#include <thread>
#include <vector>

namespace {

using namespace tulle;

std::atomic<int> destroyed{0};

struct counted {
    explicit counted(int v = 7) : value(v) {}
    ~counted() { destroyed.fetch_add(1, std::memory_order_relaxed); }
    counted(counted const&) = delete;
    counted& operator=(counted const&) = delete;
    int value;
};

class keys : public over_workers {
protected:
    void SetUp() override {
        over_workers::SetUp();
        destroyed = 0;
    }
};

TEST_P(keys, each_thread_has_its_own_value_over_its_waits) {
    thread_specific<counted> own;
    std::vector<thread<bool>> threads;
    for (int k = 0; k < 200; ++k) {
        threads.push_back(spawn([&own, k] {
            bool const empty = own.get() == nullptr;
            own.reset(std::make_unique<counted>(k));
            for (int round = 0; round < 3; ++round) this_thread::yield();
            this_thread::sleep_for(std::chrono::microseconds(10));
            return empty && own->value == k;
        }));
    }
    for (auto& t : threads) EXPECT_TRUE(t.join());
    EXPECT_EQ(own.get(), nullptr);
    EXPECT_EQ(destroyed, 200); // before the joins
}

TEST_P(keys, a_thread_run_by_its_joiner_does_not_touch_the_joiners_values) {
    thread_specific<counted> own;
    own.reset(std::make_unique<counted>(1));
    auto t = spawn([&own] {
        EXPECT_EQ(own.get(), nullptr);
        own.reset(std::make_unique<counted>(2));
    });
    t.join();
    EXPECT_EQ(own->value, 1);
    EXPECT_EQ(destroyed, 1);
}

TEST_P(keys, local_makes_a_value_at_the_first_use) {
    thread_specific<counted> own;
    EXPECT_EQ(own.local().value, 7);
    own.local().value = 8;
    EXPECT_EQ((*own).value, 8);
    own.reset();
    EXPECT_EQ(destroyed, 1);
    EXPECT_EQ(own.local().value, 7);
    EXPECT_EQ(own.release()->value, 7);
    EXPECT_EQ(destroyed, 2);
    EXPECT_EQ(own.get(), nullptr);
}

TEST_P(keys, values_of_detached_threads_and_of_those_that_throw_are_destroyed) {
    thread_specific<counted> own;
    std::atomic<bool> done{false};
    spawn_detached([&] {
        static_cast<void>(own.local());
        done.store(true, std::memory_order_release);
    });
    yield_until(done);
    auto t = spawn([&own] {
        static_cast<void>(own.local());
        throw 1;
    });
    EXPECT_THROW(t.join(), int);
    while (destroyed != 2) this_thread::yield();
}

TEST_P(keys, foreign_threads_have_values_too) {
    thread_specific<counted> own;
    std::thread([&own] {
        EXPECT_EQ(own.get(), nullptr);
        EXPECT_EQ(own.local().value, 7);
        EXPECT_NE(own.get(), nullptr);
    }).join();
    EXPECT_EQ(destroyed, 1);
}

// As long as nobody steals it, a forked child is a call in its parent; stolen, it is a thread of
// its own.
TEST_P(keys, a_forked_child_has_its_parents_values_or_its_own) {
    thread_specific<counted> own;
    own.reset(std::make_unique<counted>(1));
    std::atomic<bool> started{false};
    thread_id const parent = this_thread::get_id();
    auto child = fork([&] {
        bool const stolen = this_thread::get_id() != parent;
        EXPECT_EQ(own.get() == nullptr, stolen);
        if (stolen) own.reset(std::make_unique<counted>(3));
        started.store(true, std::memory_order_release);
        return stolen;
    });
    if (GetParam() > 1) compute_until(started);
    bool const stolen = child.join();
    EXPECT_EQ(stolen, GetParam() > 1);
    EXPECT_EQ(own->value, 1);
    EXPECT_EQ(destroyed, stolen ? 1 : 0);
}

TEST_P(keys, the_value_of_a_stolen_child_is_not_seen_by_the_next) {
    if (GetParam() == 1) GTEST_SKIP() << "nobody steals";
    thread_specific<counted> own;
    for (int k = 0; k < 100; ++k) {
        std::atomic<bool> started{false};
        auto child = fork([&] {
            EXPECT_EQ(own.get(), nullptr);
            static_cast<void>(own.local());
            this_thread::set_name("child");
            started.store(true, std::memory_order_release);
        });
        compute_until(started);
        child.join();
    }
    EXPECT_EQ(destroyed, 100);
}

struct stubborn {
    static inline std::uint64_t key = 0;
    static inline std::atomic<int> calls{0};
    static void destroy(void* value) {
        calls.fetch_add(1, std::memory_order_relaxed);
        this_thread::yield(); // it may wait
        detail::set_specific(key, value);
    }
};

TEST_P(keys, a_destructor_that_stores_again_is_called_in_four_rounds) {
    stubborn::key = detail::make_key(&stubborn::destroy);
    stubborn::calls = 0;
    int value = 0;
    spawn([&value] { detail::set_specific(stubborn::key, &value); }).join();
    EXPECT_EQ(stubborn::calls, sched::k_destructor_rounds);
    detail::drop_key(stubborn::key);
}

TEST_P(keys, the_name_is_there_while_values_are_destroyed) {
    struct asks {
        explicit asks(std::string* where) : name(where) {}
        std::string* name;
        ~asks() { *name = this_thread::name(); }
    };
    std::string name;
    thread_specific<asks> own;
    attributes named;
    named.name = "asker";
    spawn(named, [&] { own.reset(std::make_unique<asks>(&name)); }).join();
    EXPECT_EQ(name, "asker");
}

INSTANTIATE_TEST_SUITE_P(workers, keys, ::testing::Values(1, 2, 4));

TEST(key_table, has_room_for_1024_and_uses_slots_again) {
    std::vector<sched::key> made(sched::k_most_keys);
    for (auto& k : made) ASSERT_EQ(sched::create_key(k, nullptr), 0);
    sched::key more = 0;
    EXPECT_EQ(sched::create_key(more, nullptr), EAGAIN);
    EXPECT_THROW(thread_specific<int>(), std::system_error);
    sched::key const old = made[500];
    EXPECT_EQ(sched::delete_key(old), 0);
    EXPECT_EQ(sched::create_key(made[500], nullptr), 0);
    EXPECT_NE(made[500], old);
    for (auto const k : made) EXPECT_EQ(sched::delete_key(k), 0);
}

TEST(key_table, refuses_what_is_no_key) {
    sched::thread_identity self(1, 0);
    sched::key k = 0;
    ASSERT_EQ(sched::create_key(k, nullptr), 0);
    EXPECT_EQ(sched::set_value(self, k, &k), 0);
    EXPECT_EQ(sched::delete_key(k), 0);
    EXPECT_EQ(sched::delete_key(k), EINVAL);
    EXPECT_EQ(sched::set_value(self, k, &k), EINVAL);
    EXPECT_EQ(sched::value_of(self, k), nullptr);
    for (sched::key const wrong : {sched::key{0}, ~sched::key{0}, k + 1, k + sched::k_most_keys}) {
        EXPECT_EQ(sched::set_value(self, wrong, &k), EINVAL);
        EXPECT_EQ(sched::delete_key(wrong), EINVAL);
        EXPECT_EQ(sched::value_of(self, wrong), nullptr);
    }
    sched::end_values(self);
}

TEST(key_table, a_newer_key_in_the_same_slot_does_not_show_the_older_ones_value) {
    sched::thread_identity self(1, 0);
    sched::key first = 0, second = 0;
    ASSERT_EQ(sched::create_key(first, nullptr), 0);
    ASSERT_EQ(sched::set_value(self, first, &first), 0);
    ASSERT_EQ(sched::delete_key(first), 0);
    ASSERT_EQ(sched::create_key(second, [](void*) { ADD_FAILURE() << "no value was stored"; }), 0);
    EXPECT_EQ(sched::value_of(self, second), nullptr);
    sched::end_values(self);
    EXPECT_EQ(sched::delete_key(second), 0);
}

TEST(key_table, storing_nothing_takes_no_memory) {
    sched::thread_identity self(1, 0);
    sched::key k = 0;
    ASSERT_EQ(sched::create_key(k, nullptr), 0);
    EXPECT_EQ(sched::set_value(self, k, nullptr), 0);
    EXPECT_EQ(self.at_end, 0);
    EXPECT_EQ(sched::delete_key(k), 0);
}

TEST(key_table, many_threads_make_and_delete_keys_at_once) {
    std::vector<std::thread> threads;
    std::vector<std::vector<sched::key>> made(4);
    for (auto& mine : made) {
        threads.emplace_back([&mine] {
            for (int k = 0; k < 2000; ++k) {
                sched::key fresh = 0;
                ASSERT_EQ(sched::create_key(fresh, nullptr), 0);
                mine.push_back(fresh);
                ASSERT_EQ(sched::delete_key(fresh), 0);
            }
        });
    }
    for (auto& t : threads) t.join();
    std::vector<sched::key> all;
    for (auto const& mine : made) all.insert(all.end(), mine.begin(), mine.end());
    std::sort(all.begin(), all.end());
    EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
}

} // namespace

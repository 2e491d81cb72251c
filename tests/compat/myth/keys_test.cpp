// SPDX-License-Identifier: Apache-2.0
// Values of each thread, and of each worker.
#include "support.hpp"

#include <atomic>
#include <cerrno>
#include <climits>
#include <memory>
#include <thread>
#include <vector>

namespace {

using namespace myth_test;

struct keys : running_library {};
struct keys_of_one_worker : running_library {
    keys_of_one_worker() : running_library(1) {}
};

std::atomic<int> s_destroyed{0};
void count_destroyed(void* value) { s_destroyed += static_cast<int>(as_number(value)); }

TEST_F(keys, have_a_value_for_each_thread) {
    s_destroyed = 0;
    myth_key_t key = -1;
    ASSERT_EQ(myth_key_create(&key, &count_destroyed), 0);
    ASSERT_GE(key, 0);
    EXPECT_EQ(myth_getspecific(key), nullptr);
    EXPECT_EQ(myth_setspecific(key, nullptr), 0);
    {
        std::vector<std::unique_ptr<thread>> all;
        for (int k = 1; k <= 10; ++k)
            all.push_back(std::make_unique<thread>([key, k]() -> void* {
                EXPECT_EQ(myth_getspecific(key), nullptr);
                EXPECT_EQ(myth_setspecific(key, as_pointer(k)), 0);
                myth_yield();
                EXPECT_EQ(as_number(myth_getspecific(key)), k);
                return nullptr;
            }));
    }
    EXPECT_EQ(s_destroyed, 55);
    EXPECT_EQ(myth_key_delete(key), 0);
    EXPECT_EQ(myth_key_delete(key), EINVAL);
    EXPECT_EQ(myth_setspecific(key, &key), EINVAL);
    EXPECT_EQ(myth_getspecific(key), nullptr);
}

// As MassiveThreads has it; POSIX has not.
TEST_F(keys, are_destroyed_for_null_values_that_were_stored) {
    static std::atomic<int> nulls, others;
    nulls = others = 0;
    auto* const destroy = +[](void* value) { ++(value == nullptr ? nulls : others); };
    myth_key_t key = -1, without = -1;
    ASSERT_EQ(myth_key_create(&key, destroy), 0);
    ASSERT_EQ(myth_key_create(&without, nullptr), 0);
    auto const store = [&](std::vector<void*> values) {
        thread([&, values]() -> void* {
            EXPECT_EQ(myth_setspecific(without, nullptr), 0);
            for (void* const value : values) EXPECT_EQ(myth_setspecific(key, value), 0);
            return nullptr;
        }).join();
    };
    store({});
    EXPECT_EQ(nulls, 0);
    store({nullptr});
    EXPECT_EQ(nulls, 1);
    store({&key, nullptr});
    EXPECT_EQ(nulls, 2);
    store({nullptr, &key});
    EXPECT_EQ(nulls, 2);
    EXPECT_EQ(others, 1);
    EXPECT_EQ(myth_key_delete(key), 0);
    EXPECT_EQ(myth_key_delete(without), 0);
}

TEST_F(keys, are_not_destroyed_for_nulls_of_a_deleted_one) {
    static std::atomic<int> calls_of_old, calls_of_new;
    calls_of_old = calls_of_new = 0;
    auto const use = [](bool stores_again) {
        myth_key_t old = -1;
        myth_key_t again = -1;
        thread([&]() -> void* {
            EXPECT_EQ(myth_key_create(&old, [](void*) { ++calls_of_old; }), 0);
            EXPECT_EQ(myth_setspecific(old, nullptr), 0);
            EXPECT_EQ(myth_key_delete(old), 0);
            EXPECT_EQ(myth_key_create(&again, [](void*) { ++calls_of_new; }), 0);
            EXPECT_EQ(again, old);
            if (stores_again) {
                EXPECT_EQ(myth_setspecific(again, nullptr), 0);
            }
            return nullptr;
        }).join();
        EXPECT_EQ(myth_key_delete(again), 0);
    };
    use(false);
    EXPECT_EQ(calls_of_new, 0);
    use(true);
    EXPECT_EQ(calls_of_new, 1);
    EXPECT_EQ(calls_of_old, 0);
}

TEST_F(keys, of_a_deleted_one_show_no_old_values) {
    myth_key_t key = -1;
    ASSERT_EQ(myth_key_create(&key, nullptr), 0);
    EXPECT_EQ(myth_setspecific(key, &key), 0);
    EXPECT_EQ(myth_key_delete(key), 0);
    myth_key_t again = -1;
    ASSERT_EQ(myth_key_create(&again, nullptr), 0);
    EXPECT_EQ(again, key);
    EXPECT_EQ(myth_getspecific(again), nullptr);
    EXPECT_EQ(myth_key_delete(again), 0);
}

TEST_F(keys, are_limited_and_checked) {
    std::vector<myth_key_t> all;
    myth_key_t key = -1;
    int error = 0;
    while ((error = myth_key_create(&key, nullptr)) == 0) all.push_back(key);
    EXPECT_EQ(error, EAGAIN);
    EXPECT_GE(all.size(), 1000U);
    for (myth_key_t const k : all) EXPECT_EQ(myth_key_delete(k), 0);
    EXPECT_EQ(myth_key_create(nullptr, nullptr), EINVAL);
    for (myth_key_t const none : {-1, 1024, INT_MAX, INT_MIN}) {
        EXPECT_EQ(myth_key_delete(none), EINVAL);
        EXPECT_EQ(myth_setspecific(none, &key), EINVAL);
        EXPECT_EQ(myth_getspecific(none), nullptr);
    }
}

TEST_F(keys, of_workers_belong_to_the_os_thread) {
    myth_wls_key_t key{};
    ASSERT_EQ(myth_wls_key_create(&key, nullptr), 0);
    EXPECT_EQ(myth_wls_setspecific(key, as_pointer(3)), 0);
    EXPECT_EQ(as_number(myth_wls_getspecific(key)), 3);
    std::thread([key] { EXPECT_EQ(myth_wls_getspecific(key), nullptr); }).join();
    EXPECT_EQ(myth_wls_key_delete(key), 0);
    EXPECT_EQ(myth_wls_key_delete(key), EINVAL);
    EXPECT_EQ(myth_wls_setspecific(key, nullptr), EINVAL);
    EXPECT_EQ(myth_wls_key_create(nullptr, nullptr), EINVAL);
}
TEST_F(keys_of_one_worker, shares_its_local_value_among_its_threads) {
    myth_wls_key_t key{};
    ASSERT_EQ(myth_wls_key_create(&key, nullptr), 0);
    thread([key] {
        EXPECT_EQ(myth_wls_setspecific(key, as_pointer(4)), 0);
        return nullptr;
    }).join();
    thread([key] { return myth_wls_getspecific(key); }).join();
    thread reads([key] { return myth_wls_getspecific(key); });
    EXPECT_EQ(as_number(reads.join()), 4);
    EXPECT_EQ(myth_wls_key_delete(key), 0);
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
// What the tests of the face for MassiveThreads share.
#pragma once

#include <myth/myth.h>

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <utility>

namespace myth_test {

// Runs with so many workers for one test.
class running_library : public testing::Test {
protected:
    explicit running_library(int workers = 2) {
        myth_globalattr_t attributes;
        EXPECT_EQ(myth_globalattr_init(&attributes), 0);
        EXPECT_EQ(myth_globalattr_set_n_workers(&attributes, static_cast<size_t>(workers)), 0);
        EXPECT_EQ(myth_init_ex(&attributes), 1);
        EXPECT_EQ(myth_get_num_workers(), workers);
    }
    ~running_library() override { myth_fini(); }
};

using job = std::function<void*()>;
inline void* run_job(void* of) { return (*static_cast<job*>(of))(); }

// A thread that does it; joined at the end of the scope.
class thread {
public:
    explicit thread(job todo, myth_thread_attr_t* how = nullptr) : m_job(std::move(todo)) {
        EXPECT_EQ(myth_create_ex(&m_thread, how, &run_job, &m_job), 0);
    }
    ~thread() {
        if (m_thread != nullptr) join();
    }
    thread(thread const&) = delete;
    thread& operator=(thread const&) = delete;

    void* join() {
        void* result = nullptr;
        EXPECT_EQ(myth_join(std::exchange(m_thread, nullptr), &result), 0);
        return result;
    }
    [[nodiscard]] bool is_over() {
        void* result = nullptr;
        if (myth_tryjoin(m_thread, &result) != 0) return false;
        m_thread = nullptr;
        return true;
    }
    [[nodiscard]] myth_thread_t handle() const { return m_thread; }

private:
    job m_job;
    myth_thread_t m_thread = nullptr;
};

inline void let_others_run() {
    for (int k = 0; k < 50; ++k) myth_yield();
}
// It waits, and goes on when `release` is called.
template <class Wait, class Release> void expect_to_wait(Wait waits, Release release) {
    thread t([&]() -> void* {
        waits();
        return nullptr;
    });
    let_others_run();
    EXPECT_FALSE(t.is_over());
    release();
}

inline void* as_pointer(std::intptr_t number) { return reinterpret_cast<void*>(number); }
inline std::intptr_t as_number(void* pointer) { return reinterpret_cast<std::intptr_t>(pointer); }

inline timespec in_ms(long ms) {
    timespec t{};
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_sec += ms / 1000;
    t.tv_nsec += ms % 1000 * 1'000'000;
    if (t.tv_nsec >= 1'000'000'000) {
        t.tv_nsec -= 1'000'000'000;
        ++t.tv_sec;
    }
    return t;
}
inline constexpr timespec k_past{1, 0};
inline constexpr timespec k_no_time{0, 1'000'000'000};

} // namespace myth_test

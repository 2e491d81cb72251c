// SPDX-License-Identifier: Apache-2.0
#include "os/membarrier.hpp"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <thread>
#include <vector>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/cache_line.hpp"

namespace {

using namespace tulle::os;

constexpr int k_end = -1;

// False: there will be no more rounds. Gives the processor up now and then: there may be but one.
bool wait_for(std::atomic<int> const& word, int value) {
    for (int k = 1;; ++k) {
        int const now = word.load(std::memory_order_acquire); // pairs with the releases below
        if (now == value || now == k_end) return now == value;
        tulle::base::cpu_pause();
        if (k % 1024 == 0) sched_yield();
    }
}

TEST(membarrier, registers_more_than_once) {
    ASSERT_TRUE(membarrier_register()) << "this kernel refuses membarrier(2)";
    EXPECT_TRUE(membarrier_register());
    membarrier_heavy();
}

// How often both loads have missed the other side's store, of so many rounds at most.
int count_missed(int rounds) {
    std::atomic<int> mine{0}, theirs{0}, round{0}, finished{0};
    std::atomic<int> light_saw{0};
    std::thread light([&] {
        for (int i = 1; wait_for(round, i); ++i) {
            mine.store(i, std::memory_order_relaxed);
            tulle::base::compiler_barrier();
            light_saw.store(theirs.load(std::memory_order_relaxed), std::memory_order_relaxed);
            finished.store(i, std::memory_order_release); // pairs with wait_for
        }
    });
    int both_missed = 0;
    // Beside busy processes a round takes two time slices.
    auto const enough = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    for (int i = 1; i <= rounds && std::chrono::steady_clock::now() < enough; ++i) {
        round.store(i, std::memory_order_release); // pairs with wait_for
        theirs.store(i, std::memory_order_relaxed);
        membarrier_heavy();
        int const heavy_saw = mine.load(std::memory_order_relaxed);
        static_cast<void>(wait_for(finished, i));
        both_missed += heavy_saw != i && light_saw.load(std::memory_order_relaxed) != i ? 1 : 0;
    }
    round.store(k_end, std::memory_order_release); // pairs with wait_for
    light.join();
    return both_missed;
}

// The store-load handshake (Dekker): with a compiler barrier on one side and the heavy one on the
// other, not both loads may miss the other side's store.
TEST(membarrier, makes_a_store_load_handshake_safe) {
    if (!membarrier_register()) {
        GTEST_SKIP() << "this kernel refuses membarrier(2)";
    }
    EXPECT_EQ(count_missed(2'000), 0);
}

// From now on the kernel refuses these calls to the calling thread.
bool refuse(std::vector<unsigned> const& calls) {
    std::vector<sock_filter> steps{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
    for (unsigned const call : calls) {
        steps.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1));
        steps.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS));
    }
    steps.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    sock_fprog const filter{static_cast<unsigned short>(steps.size()), steps.data()};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) == 0;
}

// A program may install a filter of system calls at any time.
TEST(membarrier, is_a_fence_also_where_it_is_refused_later) {
    if (!membarrier_register()) {
        GTEST_SKIP() << "this kernel refuses membarrier(2)";
    }
    std::vector<std::vector<unsigned>> const refused{{SYS_membarrier},
                                                     {SYS_membarrier, SYS_sched_setaffinity}};
    for (auto const& calls : refused) {
        bool is_filtered = false;
        int missed = 0;
        cpu_set_t before, after;
        std::thread heavy([&] {
            is_filtered = refuse(calls);
            sched_getaffinity(0, sizeof before, &before);
            if (is_filtered) missed = count_missed(300);
            sched_getaffinity(0, sizeof after, &after);
        });
        heavy.join();
        if (!is_filtered) GTEST_SKIP() << "there are no filters of system calls here";
        EXPECT_EQ(missed, 0);
        EXPECT_TRUE(CPU_EQUAL(&before, &after));
    }
}

TEST(membarrier_death_test, not_registered) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(
        membarrier_heavy(),
        R"(tulle: membarrier failed with errno [0-9]+; was membarrier_register\(\) asked first\?)");
}

} // namespace

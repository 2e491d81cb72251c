// SPDX-License-Identifier: Apache-2.0
#include "os/private_descriptor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tulle::os {
namespace {

int open_something() noexcept { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }
bool stands(int number) { return ::fcntl(number, F_GETFD) >= 0; }
private_descriptor make_one() noexcept { return private_descriptor(&open_something); }

TEST(private_descriptor, is_known_while_it_is_open) {
    int number = -1;
    {
        private_descriptor const made = make_one();
        ASSERT_TRUE(made.is_open());
        number = made.number();
        EXPECT_TRUE(private_descriptor::is_one(number));
        EXPECT_TRUE(stands(number));
    }
    EXPECT_FALSE(private_descriptor::is_one(number));
    EXPECT_FALSE(stands(number));
}

TEST(private_descriptor, none_is_none_and_leaves_errno) {
    private_descriptor const none([]() noexcept {
        errno = EMFILE;
        return -1;
    });
    EXPECT_EQ(errno, EMFILE);
    EXPECT_FALSE(none.is_open());
    EXPECT_FALSE(private_descriptor::is_one(-1));
    EXPECT_FALSE(private_descriptor::is_one(1 << 30));
}

TEST(private_descriptor, goes_along_when_it_is_moved) {
    private_descriptor first = make_one();
    int const number = first.number();
    private_descriptor second(std::move(first));
    EXPECT_EQ(second.number(), number);
    private_descriptor third = make_one();
    int const replaced = third.number();
    third = std::move(second);
    EXPECT_EQ(third.number(), number);
    EXPECT_TRUE(private_descriptor::is_one(number));
    EXPECT_FALSE(stands(replaced));
}

using range = std::pair<unsigned, unsigned>;

std::vector<range> others_in(unsigned first, unsigned last) {
    std::vector<range> seen;
    EXPECT_EQ(private_descriptor::for_others(first, last,
                                             [&](unsigned from, unsigned to) {
                                                 seen.emplace_back(from, to);
                                                 return 0;
                                             }),
              0);
    return seen;
}

// At this number, which is free.
private_descriptor made_at(int number) {
    return private_descriptor([number]() noexcept {
        int const opened = open_something();
        int const there = ::fcntl(opened, F_DUPFD_CLOEXEC, number);
        ::close(opened);
        return there;
    });
}

// The numbers from 400 on, whatever the limit was and whoever has used them.
void make_room() {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 1024);
    ::setrlimit(RLIMIT_NOFILE, &limit);
    for (int number = 400; number != 1024; ++number) ::close(number);
}

// Both in a process of their own.
void leave_them_out_and_exit() {
    constexpr unsigned k_all = ~0U;
    make_room();
    private_descriptor const low = made_at(400), next = made_at(401), high = made_at(700);
    EXPECT_EQ(others_in(390, 900), (std::vector<range>{{390, 399}, {402, 699}, {701, 900}}));
    EXPECT_EQ(others_in(400, 700), (std::vector<range>{{402, 699}}));
    EXPECT_EQ(others_in(401, 401), (std::vector<range>{}));
    EXPECT_EQ(others_in(402, 402), (std::vector<range>{{402, 402}}));
    EXPECT_EQ(others_in(701, k_all), (std::vector<range>{{701, k_all}}));
    EXPECT_EQ(others_in(k_all, k_all), (std::vector<range>{{k_all, k_all}}));
    std::_Exit(testing::Test::HasFailure() ? 1 : 0);
}

void end_at_the_first_and_exit() {
    make_room();
    private_descriptor const one = made_at(500);
    int calls = 0;
    EXPECT_EQ(private_descriptor::for_others(490, 510, [&](unsigned, unsigned) { return ++calls; }),
              1);
    EXPECT_EQ(calls, 1);
    std::_Exit(testing::Test::HasFailure() ? 1 : 0);
}

TEST(private_descriptor_death_test, ranges_leave_them_out) {
    EXPECT_EXIT(leave_them_out_and_exit(), testing::ExitedWithCode(0), "");
}

TEST(private_descriptor_death_test, first_result_that_is_not_0_ends_it) {
    EXPECT_EXIT(end_at_the_first_and_exit(), testing::ExitedWithCode(0), "");
}

// In a process of its own, as it holds for all that follow.
void lie_high_and_exit() {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = 160;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    private_descriptor::lie_high();
    std::vector<private_descriptor> made;
    for (int k = 0; k != 12; ++k) made.push_back(make_one());
    bool is_right = made[0].number() == 150 && made[9].number() == 159;
    // There is no room there any more.
    is_right = is_right && made[10].number() < 150 && made[11].number() < 150;
    for (private_descriptor const& one : made)
        is_right = is_right && private_descriptor::is_one(one.number()) && stands(one.number());
    std::_Exit(is_right ? 0 : 1);
}

TEST(private_descriptor_death_test, lie_above_the_numbers_of_programs) {
    EXPECT_EXIT(lie_high_and_exit(), testing::ExitedWithCode(0), "");
}

// --- beside others -------------------------------------------------------------------------------

// A program that closes whatever it finds open and is not told of. It opens nothing meanwhile.
class closing_program {
public:
    explicit closing_program(std::vector<int> tried)
        : m_tried(std::move(tried)), m_thread([this] { run(); }) {}
    ~closing_program() {
        m_ends.store(true, std::memory_order_relaxed); // relaxed: it is joined
        m_thread.join();
    }
    closing_program(closing_program const&) = delete;
    closing_program& operator=(closing_program const&) = delete;

    // Until it has gone on to all numbers anew.
    void let_it_try() const {
        unsigned const before = m_passes.load(std::memory_order_acquire); // pairs with run
        while (m_passes.load(std::memory_order_acquire) - before < 2) std::this_thread::yield();
    }
    [[nodiscard]] int closed() const noexcept { return m_closed.load(std::memory_order_acquire); }

private:
    void run() {
        while (!m_ends.load(std::memory_order_relaxed)) { // relaxed: as above
            for (int const number : m_tried)
                if (stands(number) && !private_descriptor::is_one(number) && ::close(number) == 0)
                    m_closed.fetch_add(1, std::memory_order_release);
            m_passes.fetch_add(1, std::memory_order_release); // pairs with let_it_try
        }
    }

    std::vector<int> const m_tried;
    std::atomic<bool> m_ends{false};
    std::atomic<unsigned> m_passes{0};
    std::atomic<int> m_closed{0};
    std::thread m_thread;
};

void make_beside_closings_and_exit(bool lie_high) {
    constexpr int k_rounds = 500;
    make_room();
    if (lie_high) private_descriptor::lie_high();
    int const opened = open_something();
    ::close(opened);
    int const number = make_one().number();
    int not_there = 0;
    closing_program const program({opened, number});
    for (int round = 0; round != k_rounds; ++round) {
        private_descriptor made = make_one();
        program.let_it_try();
        not_there += made.number() == number && stands(number) ? 0 : 1;
        made.close();
        program.let_it_try();
    }
    std::_Exit(not_there == 0 && program.closed() == 0 ? 0 : 1);
}

TEST(private_descriptor_death_test, programs_close_none_that_is_being_made_or_closed) {
    EXPECT_EXIT(make_beside_closings_and_exit(false), testing::ExitedWithCode(0), "");
}
TEST(private_descriptor_death_test, programs_close_none_that_is_being_moved) {
    EXPECT_EXIT(make_beside_closings_and_exit(true), testing::ExitedWithCode(0), "");
}

// Its number is the child's, whatever becomes of the object that was the parent's.
void leave_them_to_the_parent_and_exit() {
    int number = -1;
    bool is_right = true;
    {
        private_descriptor const of_parent = make_one();
        number = of_parent.number();
        private_descriptor::forget_all();
        is_right = !private_descriptor::is_one(number) && !stands(number);
        is_right = is_right && open_something() == number;
    }
    is_right = is_right && stands(number);
    private_descriptor const next = make_one();
    is_right = is_right && private_descriptor::is_one(next.number());
    std::_Exit(is_right ? 0 : 1);
}

TEST(private_descriptor_death_test, forked_children_have_none) {
    EXPECT_EXIT(leave_them_to_the_parent_and_exit(), testing::ExitedWithCode(0), "");
}

// The child is made without the handlers of forks: in its eyes the parent is at it for ever.
void ask_in_a_child_and_exit() {
    private_descriptor const one = make_one();
    int status = 1;
    static_cast<void>(private_descriptor([&]() noexcept {
        auto const child = static_cast<pid_t>(::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
        if (child == 0) {
            sigset_t none;
            sigemptyset(&none);
            ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
            ::alarm(20);
            bool is_right = private_descriptor::is_one(one.number());
            is_right = is_right && others_in(0, 9).size() != 0 && make_one().is_open();
            std::_Exit(is_right ? 0 : 1);
        }
        ::waitpid(child, &status, 0);
        return -1;
    }));
    std::_Exit(status == 0 ? 0 : 1);
}

TEST(private_descriptor_death_test, children_that_are_forked_unseen_do_not_wait_for_the_parent) {
    EXPECT_EXIT(ask_in_a_child_and_exit(), testing::ExitedWithCode(0), "");
}

} // namespace
} // namespace tulle::os

// SPDX-License-Identifier: Apache-2.0
//
// A program that follows: the CPUs that it has change as others come, go and die, without being
// asked.
#include "cpus/member.hpp"
#include "emulated.hpp"
#include "resting_process.hpp"
#include "temporary_path.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

namespace {

using namespace tulle;
using cpus::member;
using numbers = std::vector<int>;

numbers const k_eight{0, 1, 2, 3, 4, 5, 6, 7};
constexpr cpus::wish k_wants_all{1, 8, 1};

// What the follower has been told.
std::atomic<int> s_watcher{0};
std::atomic<bool> s_can_follow{true};
std::atomic<int> s_moves{0};
std::atomic<int> s_refusals{0};
std::mutex s_lock;
numbers s_has;     // guarded by s_lock
std::string s_why; // likewise

void note_watcher(int tid) noexcept { s_watcher.store(tid); }

bool note_move(numbers const& from, numbers const& to) noexcept {
    if (!s_can_follow.load()) return s_refusals.fetch_add(1), false;
    std::lock_guard const held(s_lock);
    EXPECT_EQ(from, s_has);
    s_has = to;
    s_moves.fetch_add(1);
    return true;
}

void note_end(std::string const& why) noexcept {
    std::lock_guard const held(s_lock);
    s_why = why;
}

class member_test : public ::testing::Test {
protected:
    void SetUp() override {
        TULLE_SKIP_IF_EMULATED("/proc of other processes is the system's");
        s_can_follow.store(true);
        s_moves.store(0);
        s_refusals.store(0);
        s_watcher.store(0);
        s_has = k_eight;
        s_why.clear();
    }
    void TearDown() override { m_member.leave(); }

    [[nodiscard]] int join(cpus::wish const& wanted = k_wants_all) {
        return m_member.join(m_file.get(), k_eight, wanted, {&note_watcher, &note_move, &note_end});
    }
    // As that process would.
    void visit(resting_process const& as, cpus::wish const& wanted = k_wants_all) {
        cpus::registry r(m_file.get(), as.number());
        EXPECT_TRUE(r.visit(k_eight, wanted)) << r.why();
    }
    [[nodiscard]] static numbers followed() {
        std::lock_guard const held(s_lock);
        return s_has;
    }
    void await(std::size_t count) {
        // A test that hangs fails.
        while (m_member.has().size() != count)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        EXPECT_EQ(followed(), m_member.has());
    }

    temporary_path m_file;
    resting_process m_one, m_two;
    member m_member;
};

TEST_F(member_test, alone_it_has_everything) {
    ASSERT_EQ(join(), 0);
    EXPECT_EQ(m_member.has(), k_eight);
    EXPECT_EQ(s_moves.load(), 0);
    EXPECT_EQ(m_member.wanted(), k_wants_all);
}

TEST_F(member_test, joins_once) {
    ASSERT_EQ(join(), 0);
    EXPECT_EQ(join(), EALREADY);
    m_member.leave();
    EXPECT_EQ(m_member.wanted(), std::nullopt);
    EXPECT_EQ(m_member.want(k_wants_all), ENOTSUP);
    m_member.leave();
    EXPECT_EQ(join(), 0);
}

TEST_F(member_test, follows_programs_that_come_go_and_die) {
    ASSERT_EQ(join(), 0);
    visit(m_one);
    await(4);
    visit(m_two, {6, 8, 1});
    await(1);
    m_two.kill();
    await(4);
    EXPECT_TRUE(cpus::registry(m_file.get(), m_one.number()).leave());
    await(8);
}

TEST_F(member_test, the_second_has_its_part_at_once_and_gives_it_back) {
    visit(m_one);
    ASSERT_EQ(join(), 0);
    EXPECT_EQ(m_member.has().size(), 4U);
    EXPECT_EQ(followed(), m_member.has());
    m_member.leave();
    cpus::registry r(m_file.get());
    auto const left = r.list();
    ASSERT_TRUE(left);
    ASSERT_EQ(left->size(), 1U);
    EXPECT_EQ(left->front().as_divided.has, k_eight);
}

TEST_F(member_test, wishes_count_at_once) {
    visit(m_one);
    ASSERT_EQ(join(), 0);
    EXPECT_EQ(m_member.want({1, 8, 3}), 0);
    EXPECT_EQ(m_member.has().size(), 6U);
    EXPECT_EQ(m_member.want({1, 2, 3}), 0);
    EXPECT_EQ(m_member.has().size(), 2U);
    EXPECT_EQ(m_member.want({1, 8, 1}, {0, 1, 2}), 0);
    EXPECT_EQ(m_member.has(), (numbers{0, 1, 2}));
}

TEST_F(member_test, nonsense_changes_nothing) {
    ASSERT_EQ(join(), 0);
    EXPECT_EQ(m_member.want({2, 1, 1}), EINVAL);
    EXPECT_EQ(m_member.want({1, 1, 0}), EINVAL);
    EXPECT_EQ(m_member.want(k_wants_all, {}), EINVAL);
    EXPECT_EQ(m_member.want(k_wants_all, {cpus::k_most_cpus}), E2BIG);
    EXPECT_EQ(m_member.wanted(), k_wants_all);
    EXPECT_EQ(m_member.may(), k_eight);
    EXPECT_EQ(m_member.has(), k_eight);
}

TEST_F(member_test, a_program_that_cannot_follow_is_told_again) {
    ASSERT_EQ(join(), 0);
    s_can_follow.store(false);
    visit(m_one);
    while (s_refusals.load() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(m_member.has(), k_eight);
    s_can_follow.store(true);
    await(4);
}

TEST_F(member_test, a_file_that_is_removed_is_entered_again) {
    ASSERT_EQ(join(), 0);
    std::filesystem::remove(m_file.get());
    while (!std::filesystem::exists(m_file.get()))
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    visit(m_one);
    await(4);
}

TEST_F(member_test, a_file_that_is_damaged_is_left_and_the_program_has_all) {
    visit(m_one);
    ASSERT_EQ(join(), 0);
    std::string const other = m_file.get() + "2"; // in one step, as the member may write meanwhile
    std::ofstream(other) << "something else that is long enough";
    std::filesystem::rename(other, m_file.get());
    await(8);
    while (m_member.wanted()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(m_member.want(k_wants_all), ENOTSUP);
    m_member.leave(); // and the thread has ended
    EXPECT_NE(s_why.find("another version"), std::string::npos) << s_why;
    std::filesystem::remove(m_file.get());
    EXPECT_EQ(join(), 0);
}

TEST_F(member_test, a_file_of_no_use_is_told_of) {
    std::ofstream(m_file.get()) << "something else that is long enough";
    EXPECT_EQ(join(), EBADMSG);
    EXPECT_NE(m_member.why().find("another version"), std::string::npos) << m_member.why();
    EXPECT_EQ(m_member.want(k_wants_all), ENOTSUP);
    EXPECT_EQ(s_watcher.load(), 0);
}

TEST_F(member_test, a_lock_that_is_held_for_long_only_delays) {
    ASSERT_EQ(join(), 0);
    visit(m_one);
    await(4);
    int const file = open(m_file.get().c_str(), O_RDONLY | O_CLOEXEC);
    ASSERT_EQ(flock(file, LOCK_EX), 0);
    EXPECT_EQ(m_member.want({1, 2, 1}), 0);
    EXPECT_EQ(m_member.has().size(), 4U);
    close(file);
    await(2);
}

TEST_F(member_test, a_child_is_no_member) {
    ASSERT_EQ(join(), 0);
    m_member.before_process_fork();
    pid_t const child = fork();
    m_member.after_process_fork(child == 0);
    if (child == 0)
        _exit(m_member.want(k_wants_all) == ENOTSUP && m_member.may() == m_member.has() ? 0 : 1);
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(m_member.want(k_wants_all), 0);
    visit(m_one);
    await(4);
}

// Less than a thousandth of a processor. Ten times that is a fault.
TEST_F(member_test, sleeping_costs_next_to_nothing) {
    ASSERT_EQ(join(), 0);
    visit(m_one);
    await(4);
    auto const used = [] {
        timespec t{};
        // The clock of an OS thread, by its number: as pthread_getcpuclockid makes it.
        auto const clock =
            static_cast<clockid_t>((~static_cast<unsigned>(s_watcher.load()) << 3U) | 6U);
        EXPECT_EQ(clock_gettime(clock, &t), 0);
        return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
    };
    std::chrono::nanoseconds least = std::chrono::hours(1);
    for (int again = 0; again < 3 && least >= std::chrono::milliseconds(30); ++again) {
        auto const before = used();
        std::this_thread::sleep_for(std::chrono::seconds(3));
        least = std::min(least, used() - before);
    }
    EXPECT_LT(least, std::chrono::milliseconds(30));
}

} // namespace

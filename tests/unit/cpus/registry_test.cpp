// SPDX-License-Identifier: Apache-2.0
//
// The file in which programs agree: who comes, goes and dies, what is not what it should be, and
// deaths at each step.
#include "cpus/registry.hpp"
#include "emulated.hpp"
#include "os/process.hpp"
#include "resting_process.hpp"
#include "stress.hpp"
#include "temporary_path.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace tulle;
using cpus::entry;
using cpus::file_head;
using cpus::registry;
using list = std::vector<int>;

list const k_four{0, 1, 2, 3};
constexpr cpus::wish k_all{1, 4, 1};

std::string content(std::string const& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

void put(std::string const& path, std::string const& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
}

template <class T> std::string bytes_of(T const& object) {
    return {reinterpret_cast<char const*>(&object), sizeof object};
}

class registry_test : public ::testing::Test {
protected:
    void SetUp() override { TULLE_SKIP_IF_EMULATED("/proc of other processes is the system's"); }

    // As that process would.
    [[nodiscard]] list visit(resting_process const& as, cpus::wish const& wanted = k_all,
                             list const& may = k_four) {
        registry r(m_file.get(), as.number());
        auto const found = r.visit(may, wanted);
        if (!found) ADD_FAILURE() << r.why();
        return found.value_or(list());
    }
    void expect_refused(int error, std::string const& why, std::string const& path) const {
        registry r(path, m_one.number());
        EXPECT_FALSE(r.visit(k_four, k_all));
        EXPECT_EQ(errno, error);
        EXPECT_EQ(r.why(), path + ": " + why);
        EXPECT_FALSE(r.leave());
        EXPECT_EQ(errno, error);
        EXPECT_FALSE(r.list());
        EXPECT_EQ(errno, error);
    }
    void expect_refused(int error, std::string const& why) const {
        expect_refused(error, why, m_file.get());
    }
    [[nodiscard]] std::set<int> processes() const {
        std::set<int> found;
        auto const rows = registry(m_file.get()).list();
        EXPECT_TRUE(rows);
        for (auto const& row : rows.value_or(std::vector<registry::row>()))
            found.insert(row.process);
        return found;
    }

    temporary_path m_file;
    resting_process m_one, m_two, m_three;
};

TEST_F(registry_test, nobody_is_in_a_file_that_is_not_there) {
    EXPECT_TRUE(processes().empty());
    EXPECT_FALSE(std::filesystem::exists(m_file.get()));
}

TEST_F(registry_test, a_program_that_comes_gets_a_part_from_those_that_were_there) {
    EXPECT_EQ(visit(m_one), k_four);
    EXPECT_EQ(visit(m_two), (list{2, 3}));
    EXPECT_EQ(visit(m_one), (list{0, 1}));
    EXPECT_EQ(visit(m_three), (list{3}));
    EXPECT_EQ(visit(m_two), (list{2}));
    EXPECT_EQ(processes(), (std::set<int>{m_one.number(), m_two.number(), m_three.number()}));
}

TEST_F(registry_test, a_program_that_leaves_gives_all_back) {
    EXPECT_EQ(visit(m_one), k_four);
    EXPECT_EQ(visit(m_two), (list{2, 3}));
    EXPECT_TRUE(registry(m_file.get(), m_two.number()).leave());
    EXPECT_EQ(processes(), (std::set<int>{m_one.number()}));
    EXPECT_EQ(visit(m_one), k_four);
    EXPECT_TRUE(registry(m_file.get(), m_two.number()).leave()) << "once more is nothing";
    EXPECT_TRUE(registry(m_file.get(), m_one.number()).leave());
    EXPECT_FALSE(std::filesystem::exists(m_file.get())) << "nobody needs it any more";
    EXPECT_EQ(visit(m_one), k_four);
}

TEST_F(registry_test, a_program_that_dies_is_left_out_also_before_its_parent_notices) {
    EXPECT_EQ(visit(m_one), k_four);
    EXPECT_EQ(visit(m_two), (list{2, 3}));
    m_two.kill();
    EXPECT_EQ(processes(), (std::set<int>{m_one.number()}));
    EXPECT_EQ(visit(m_one), k_four);
    EXPECT_EQ(visit(m_three), (list{2, 3})) << "at the place in the file that is free";
    EXPECT_EQ(content(m_file.get()).size(), sizeof(file_head) + 2 * sizeof(entry));
}

TEST_F(registry_test, a_process_that_has_the_number_of_a_dead_one_is_another) {
    EXPECT_EQ(visit(m_one), k_four);
    EXPECT_EQ(visit(m_two), (list{2, 3}));
    std::string bytes = content(m_file.get());
    auto const at = sizeof(file_head) + offsetof(entry, start);
    ++bytes[at]; // as of a process that had started then
    put(m_file.get(), bytes);
    EXPECT_EQ(processes(), (std::set<int>{m_two.number()}));
    EXPECT_EQ(visit(m_two), k_four);
}

TEST_F(registry_test, wishes_may_change) {
    EXPECT_EQ(visit(m_one), k_four);
    EXPECT_EQ(visit(m_two, {3, 4, 1}).size(), 3U);
    EXPECT_EQ(visit(m_one).size(), 1U);
    EXPECT_EQ(visit(m_two, {1, 4, 1}).size(), 2U);
    EXPECT_EQ(visit(m_one, {1, 4, 3}).size(), 3U);
    EXPECT_EQ(visit(m_two).size(), 1U);
    EXPECT_EQ(visit(m_two, {3, 4, 1}, {3, 4, 5}), (list{3, 4, 5}))
        << "others than the first one may use, but for one";
    EXPECT_EQ(visit(m_one), (list{0, 1, 2}));
}

TEST_F(registry_test, a_visit_that_changes_nothing_writes_nothing) {
    static_cast<void>(visit(m_one));
    static_cast<void>(visit(m_two));
    static_cast<void>(visit(m_one));
    auto const before = std::filesystem::last_write_time(m_file.get());
    usleep(20'000); // more than the system's clock for files
    static_cast<void>(visit(m_one));
    static_cast<void>(visit(m_two));
    EXPECT_EQ(std::filesystem::last_write_time(m_file.get()), before);
}

TEST_F(registry_test, large_numbers_of_processors) {
    list const may{63, 64, 4095, cpus::k_most_cpus - 1};
    EXPECT_EQ(visit(m_one, k_all, may), may);
    registry r(m_file.get(), m_two.number());
    EXPECT_FALSE(r.visit({cpus::k_most_cpus}, k_all));
    EXPECT_EQ(errno, E2BIG);
    EXPECT_FALSE(r.visit({-1}, k_all));
    EXPECT_EQ(errno, E2BIG);
}

TEST_F(registry_test, nonsense_is_refused) {
    registry r(m_file.get(), m_one.number());
    for (cpus::wish const& bad : {cpus::wish{0, 1, 1},
                                  {2, 1, 1},
                                  {1, 1, 0},
                                  {1, 1, cpus::k_most_weight + 1},
                                  {1, cpus::k_most_wanted + 1, 1}}) {
        EXPECT_FALSE(r.visit(k_four, bad));
        EXPECT_EQ(errno, EINVAL);
    }
    EXPECT_FALSE(r.visit({}, k_all));
    EXPECT_EQ(errno, EINVAL);
    EXPECT_FALSE(std::filesystem::exists(m_file.get()));
}

TEST_F(registry_test, a_file_that_is_removed_is_made_again) {
    EXPECT_EQ(visit(m_one), k_four);
    EXPECT_EQ(visit(m_two), (list{2, 3}));
    std::filesystem::remove(m_file.get());
    EXPECT_EQ(visit(m_two), k_four) << "the other one has not noticed yet";
    EXPECT_EQ(visit(m_one).size(), 2U);
}

TEST_F(registry_test, a_full_one_takes_nobody_else) {
    entry other;
    other.process = m_one.number();
    other.least = other.most = other.weight = 1;
    other.may[0] = 1;
    std::string bytes = bytes_of(file_head());
    for (std::size_t k = 0; k < registry::k_most_programs; ++k) {
        other.start = os::start_of_process(m_one.number());
        bytes += bytes_of(other);
    }
    put(m_file.get(), bytes);
    registry r(m_file.get(), m_two.number());
    EXPECT_FALSE(r.visit(k_four, k_all));
    EXPECT_EQ(errno, ENOSPC);
    EXPECT_EQ(r.why(), m_file.get() + ": as many programs share as it has room for");
    EXPECT_EQ(content(m_file.get()), bytes);
    m_one.kill();
    EXPECT_EQ(visit(m_two), k_four);
}

// --- what is not what it should be ---------------------------------------------------------------

std::string const k_other =
    "it is of another version of Tulle, or something else; remove it when no such program runs";

TEST_F(registry_test, other_versions_and_other_files_are_refused_and_stay_as_they_are) {
    file_head newer;
    ++newer.format;
    file_head larger;
    ++larger.entry_bytes;
    for (std::string const& bytes :
         {bytes_of(newer), bytes_of(larger), std::string("a letter to somebody"),
          std::string(100'000, '\0')}) {
        put(m_file.get(), bytes);
        expect_refused(EBADMSG, k_other);
        EXPECT_EQ(content(m_file.get()), bytes);
    }
}

TEST_F(registry_test, a_file_that_is_too_short_is_refused) {
    put(m_file.get(), bytes_of(file_head()).substr(1));
    expect_refused(EBADMSG, "it is too short for a registry");
}

TEST_F(registry_test, a_file_that_is_too_long_is_refused) {
    put(m_file.get(),
        bytes_of(file_head()) + std::string((registry::k_most_programs + 1) * sizeof(entry), '\0'));
    expect_refused(EBADMSG, "it is damaged (too long); remove it");
}

TEST_F(registry_test, wishes_of_the_living_that_make_no_sense_are_refused) {
    EXPECT_EQ(visit(m_two), k_four);
    std::string const sound = content(m_file.get());
    for (std::size_t const field : {offsetof(entry, least), offsetof(entry, most),
                                    offsetof(entry, weight), offsetof(entry, may)}) {
        std::string bytes = sound;
        std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(sizeof(file_head) + field), 4,
                    '\0');
        put(m_file.get(), bytes);
        expect_refused(EBADMSG, "it is damaged; remove it");
    }
}

TEST_F(registry_test, nonsense_of_the_dead_is_forgotten) {
    EXPECT_EQ(visit(m_two), k_four);
    put(m_file.get(), content(m_file.get()) + std::string(sizeof(entry), '\xff'));
    EXPECT_EQ(visit(m_one).size(), 2U);
    EXPECT_EQ(processes(), (std::set<int>{m_one.number(), m_two.number()}));
}

TEST_F(registry_test, random_bytes_do_no_harm) {
    base::rng random(seed());
    print_seed("registry");
    static_cast<void>(visit(m_two));
    std::string const sound = content(m_file.get());
    for (int k = 0; k < 500; ++k) {
        std::string bytes = sound;
        bytes.resize(sound.size() + random.below(2) * random.below(3000), '\7');
        for (std::uint32_t changes = random.below(20); changes > 0; --changes)
            bytes[random.below(2) == 0 ? random.below(64)
                                       : random.below(static_cast<std::uint32_t>(bytes.size()))] =
                static_cast<char>(random.below(256));
        put(m_file.get(), bytes);
        registry r(m_file.get(), m_one.number());
        auto const found = r.visit(k_four, k_all);
        ASSERT_TRUE(found ? !found->empty() : errno == EBADMSG) << r.why();
    }
}

TEST_F(registry_test, what_is_no_file_is_refused) {
    ASSERT_EQ(mkfifo(m_file.get().c_str(), 0600), 0);
    expect_refused(EPERM, "it is no file");
    std::filesystem::remove(m_file.get());
    ASSERT_EQ(symlink("elsewhere", m_file.get().c_str()), 0);
    expect_refused(ELOOP, "Too many levels of symbolic links");
    EXPECT_FALSE(registry(m_file.get() + "/nowhere").visit(k_four, k_all));
}

TEST_F(registry_test, a_file_of_another_user_is_refused) {
    EXPECT_EQ(visit(m_one), k_four);
    if (chown(m_file.get().c_str(), geteuid() + 1, static_cast<gid_t>(-1)) != 0)
        GTEST_SKIP() << "needs to be root";
    expect_refused(EPERM, "it belongs to another user");
}

TEST_F(registry_test, a_program_that_holds_the_lock_and_does_not_go_on_is_not_waited_for) {
    EXPECT_EQ(visit(m_one), k_four);
    int const file = open(m_file.get().c_str(), O_RDONLY | O_CLOEXEC);
    ASSERT_EQ(flock(file, LOCK_EX), 0);
    registry r(m_file.get(), m_two.number());
    EXPECT_FALSE(r.visit(k_four, k_all));
    EXPECT_EQ(errno, EBUSY);
    EXPECT_EQ(r.why(), m_file.get() + ": another program holds it locked, and does not go on");
    close(file);
    EXPECT_EQ(visit(m_two), (list{2, 3}));
}

TEST_F(registry_test, what_the_environment_names) {
    EXPECT_EQ(setenv("TULLE_CPUS_FILE", "/somewhere/else", 1), 0);
    EXPECT_EQ(registry::default_path(), "/somewhere/else");
    unsetenv("TULLE_CPUS_FILE");
    EXPECT_TRUE(registry::default_path().starts_with("/dev/shm/tulle-cpus-" +
                                                     std::to_string(geteuid()) + "-"));
}

// --- deaths --------------------------------------------------------------------------------------

// Kills the child of fork, which does `body`, as it is about to make its `step`th call of the
// system. False: it has ended before.
template <class Body> bool dies_at_call(int step, Body body) {
    pid_t const child = fork();
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(2);
        raise(SIGSTOP);
        body();
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    // Each call stops it twice.
    for (int stops = 0; WIFSTOPPED(status) && stops < 2 * step - 1; ++stops) {
        ptrace(PTRACE_SYSCALL, child, nullptr, nullptr);
        waitpid(child, &status, 0);
    }
    if (!WIFSTOPPED(status)) {
        EXPECT_EQ(status, 0);
        return false;
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return true;
}

TEST_F(registry_test, a_program_that_dies_at_any_step_of_coming_or_going_leaves_nothing_behind) {
    constexpr int k_most_steps = 10'000;
    resting_process const others[]{resting_process(), resting_process()};
    int step = 1;
    auto const come_and_go = [&] {
        registry r(m_file.get());
        static_cast<void>(r.visit(k_four, k_all));
        static_cast<void>(r.leave());
    };
    for (int completed = 0; completed < 2; ++step) {
        ASSERT_LT(step, k_most_steps);
        std::filesystem::remove(m_file.get());
        if (step % 2 == 0) { // otherwise it makes the file, too
            ASSERT_EQ(visit(others[0]), k_four);
        }
        completed = dies_at_call(step, come_and_go) ? 0 : completed + 1;
        ASSERT_EQ(visit(others[0]), k_four) << "step " << step;
        ASSERT_EQ(visit(others[1]), (list{2, 3})) << "step " << step;
        ASSERT_EQ(visit(others[0]), (list{0, 1})) << "step " << step;
        ASSERT_EQ(processes().size(), 2U);
    }
    EXPECT_GT(step, 10);
}

// Real processes that come, want something else and go all the time, while some are killed. They
// are so many that one may not get the lock of the file in time.
[[noreturn]] void stay_busy(std::string const& path, std::uint64_t seed) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    base::rng random(seed);
    registry r(path);
    for (;;) {
        auto const found = r.visit(k_four, {1, 1 + static_cast<int>(random.below(4)),
                                            1 + static_cast<int>(random.below(3))});
        if (!found && errno == EBUSY) continue;
        if (!found || found->empty()) {
            std::fprintf(stderr, "%s\n", r.why().c_str());
            _exit(1);
        }
        if (random.below(4) == 0 && !r.leave() && errno != EBUSY) {
            std::fprintf(stderr, "leave: %s\n", r.why().c_str());
            _exit(1);
        }
    }
}

TEST_F(registry_test, many_that_come_go_and_die_at_one_time) {
    base::rng random(seed() + 1);
    print_seed("registry");
    std::vector<pid_t> busy;
    for (int k = 0; k < 200; ++k) {
        pid_t const child = fork();
        if (child == 0) stay_busy(m_file.get(), seed() + static_cast<std::uint64_t>(k));
        busy.push_back(child);
        if (busy.size() < 6) continue;
        usleep(random.below(2000));
        std::swap(busy[random.below(6)], busy.back());
        kill(busy.back(), SIGKILL);
        int status = 0;
        waitpid(busy.back(), &status, 0);
        ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
        busy.pop_back();
    }
    for (pid_t const child : busy) {
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
    }
    EXPECT_EQ(visit(m_one), k_four);
    EXPECT_EQ(visit(m_two), (list{2, 3}));
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
//
// Each test of a GoogleTest program finds the process as the first one did, whatever ran before it:
// after each the run time is stopped, and options, environment, processors, blocked signals, limits
// and the style of death tests are what they were. A test that leaves threads which never end
// fails. This file is linked to every such program; nobody calls it.
#include "runtime/runtime.hpp"

#include <tulle/runtime.hpp>

#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <gtest/gtest.h>

// The sanitizer of threads does not see how the C++ library counts the owners of an exception and
// of its message, the last of which may be the thread that threw it: what read_exception() has read
// is freed by that one then.
extern "C" char const* __tsan_default_suppressions();  // NOLINT(bugprone-reserved-identifier)
extern "C" char const* __tsan_default_suppressions() { // NOLINT(bugprone-reserved-identifier)
    return "race:std::runtime_error::~runtime_error\nrace:std::logic_error::~logic_error\n"
           "race:read_exception\n";
}

namespace {

using namespace std::chrono_literals;

// What a test may change of its process, as it is now.
class process_state {
public:
    process_state() {
        for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
            m_environment.emplace_back(*entry);
        CPU_ZERO(&m_cpus);
        m_has_cpus = sched_getaffinity(0, sizeof m_cpus, &m_cpus) == 0;
        pthread_sigmask(SIG_SETMASK, nullptr, &m_blocked);
        for (std::size_t k = 0; k < k_limits.size(); ++k) getrlimit(k_limits[k], &m_limits[k]);
    }

    void restore() const {
        restore_environment();
        if (m_has_cpus) sched_setaffinity(0, sizeof m_cpus, &m_cpus);
        pthread_sigmask(SIG_SETMASK, &m_blocked, nullptr);
        for (std::size_t k = 0; k < k_limits.size(); ++k) setrlimit(k_limits[k], &m_limits[k]);
        GTEST_FLAG_SET(death_test_style, m_death_test_style);
    }

private:
    static constexpr std::array k_limits{RLIMIT_AS, RLIMIT_CORE, RLIMIT_NOFILE, RLIMIT_NPROC,
                                         RLIMIT_STACK};

    // Only what differs is changed: other OS threads may read the environment.
    void restore_environment() const {
        std::vector<std::string> added;
        for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
            added.emplace_back(*entry, std::strcspn(*entry, "="));
        for (std::string const& now : m_environment) {
            std::size_t const equals = now.find('=');
            if (equals == std::string::npos) continue;
            std::string const name = now.substr(0, equals);
            std::erase(added, name);
            char const* const value = std::getenv(name.c_str());
            if (value == nullptr || now.compare(equals + 1, std::string::npos, value) != 0)
                setenv(name.c_str(), now.c_str() + equals + 1, 1);
        }
        for (std::string const& name : added) unsetenv(name.c_str());
    }

    std::vector<std::string> m_environment{};
    cpu_set_t m_cpus;
    bool m_has_cpus;
    sigset_t m_blocked{};
    std::array<rlimit, k_limits.size()> m_limits{};
    std::string m_death_test_style = GTEST_FLAG_GET(death_test_style);
};

// Detached threads may be at work still.
constexpr auto k_patience = 60s;

// Empty when it has stopped, else why it cannot.
std::string stop_run_time() {
    auto const give_up = std::chrono::steady_clock::now() + k_patience;
    while (tulle::is_initialized()) try {
            tulle::finalize();
        } catch (std::system_error const& refused) {
            if (refused.code() != std::errc::device_or_resource_busy ||
                std::chrono::steady_clock::now() > give_up)
                return refused.what();
        }
    return {};
}

class isolation : public testing::EmptyTestEventListener {
    void OnTestStart(testing::TestInfo const& /*test*/) override { m_before.emplace(); }

    void OnTestEnd(testing::TestInfo const& /*test*/) override {
        std::string const refused = stop_run_time();
        if (!refused.empty())
            ADD_FAILURE() << "the test leaves a run time that cannot be stopped: " << refused;
        m_before->restore();
        m_before.reset();
        if (refused.empty()) tulle::runtime::the().forget_options();
    }

    std::optional<process_state> m_before;
};

// The list owns its listeners. Those that are added later are told of an end earlier: what is said
// here still counts for the test.
[[maybe_unused]] bool const s_is_added = [] {
    testing::UnitTest::GetInstance()->listeners().Append(new isolation);
    return true;
}();

} // namespace

// SPDX-License-Identifier: Apache-2.0
#include "os/child_program.hpp"

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/clock.hpp"

namespace tulle::os {

memory_file::memory_file(char const* name) noexcept
    : m_descriptor(::memfd_create(name, MFD_CLOEXEC)) {}

memory_file::~memory_file() {
    if (m_descriptor >= 0) {
        ::close(m_descriptor);
    }
}

void memory_file::write(char const* text, std::size_t length) const noexcept {
    [[maybe_unused]] auto const written = ::write(m_descriptor, text, length);
}

void memory_file::rewind() const noexcept { ::lseek(m_descriptor, 0, SEEK_SET); }

int copy_process() noexcept {
    // No exit signal: the program neither hears of this child nor waits for it by accident. The
    // child is told by its own number: on SPARC the call returns the parent's there, and says which
    // of both it is in a second register.
    pid_t const parent = ::getpid();
    auto const child = static_cast<int>(::syscall(SYS_clone, 0UL, nullptr, nullptr, nullptr, 0UL));
    return child > 0 && ::getpid() != parent ? 0 : child;
}

int wait_for_copy(int child, int& status, bool may_block) noexcept {
    int ended = 0;
    do {
        ended = ::waitpid(child, &status, __WALL | (may_block ? 0 : WNOHANG));
    } while (ended < 0 && errno == EINTR);
    return ended;
}

void close_descriptors(unsigned first, unsigned last, bool only_when_executed) noexcept {
#if defined(SYS_close_range)
    constexpr unsigned k_when_executed = 4; // CLOSE_RANGE_CLOEXEC, which headers may not have
    ::syscall(SYS_close_range, first, last, only_when_executed ? k_when_executed : 0U);
#else
    static_cast<void>(first), static_cast<void>(last), static_cast<void>(only_when_executed);
#endif
}

namespace {

// Only what has been asked for is in such a folder, whoever has started this process and wherever.
void execute(char const* const* arguments, char* const* environment) noexcept {
    char const* folder = ::getenv("PATH");
    if (folder == nullptr) {
        folder = "/usr/local/bin:/usr/bin:/bin";
    }
    char path[4096];
    for (std::size_t length = 0;; folder += length + 1) {
        length = std::strcspn(folder, ":");
        if (*folder == '/' && length + std::strlen(arguments[0]) + 2 <= sizeof path) {
            std::memcpy(path, folder, length);
            path[length] = '/';
            std::strcpy(path + length + 1, arguments[0]);
            ::execve(path, const_cast<char* const*>(arguments), environment);
        }
        if (folder[length] == '\0') {
            return;
        }
    }
}

// Runs in the copy. The program gets no environment: preloaded libraries and languages do no good.
[[noreturn]] void become(char const* const* arguments, int input, int output) noexcept {
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    char* environment[] = {nullptr};
    // None of them is one of the three that they are to be.
    int const from = ::fcntl(input, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    int const to = ::fcntl(output, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    int const opened = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    int const nothing = ::fcntl(opened, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (::dup2(from, STDIN_FILENO) >= 0 && ::dup2(to, STDOUT_FILENO) >= 0 &&
        ::dup2(nothing, STDERR_FILENO) >= 0) {
        close_descriptors(STDERR_FILENO + 1, ~0U, true);
        execute(arguments, environment);
    }
    ::_exit(127);
}

} // namespace

bool run_program(char const* const* arguments, int input, int output, int most_seconds) noexcept {
    // The program would have more rights than who has chosen where it is searched for.
    if (::getauxval(AT_SECURE) != 0) {
        return false;
    }
    constexpr std::uint64_t k_second = 1'000'000'000;
    constexpr useconds_t k_pause_us = 2000;
    int const child = copy_process();
    if (child == 0) {
        become(arguments, input, output);
    }
    if (child < 0) {
        return false;
    }
    std::uint64_t const give_up =
        monotonic_ns() + static_cast<std::uint64_t>(most_seconds) * k_second;
    for (int status = 0;;) {
        int const ended = wait_for_copy(child, status, false);
        if (ended != 0) {
            return ended == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
        }
        if (monotonic_ns() >= give_up) {
            ::kill(child, SIGKILL);
        }
        ::usleep(k_pause_us);
    }
}

} // namespace tulle::os

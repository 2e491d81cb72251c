// SPDX-License-Identifier: Apache-2.0
// Calls that helper OS threads make, and waits for child processes.
#include "emulated.hpp"
#include "io_fixture.hpp"

#include "io/helpers.hpp"

#include <tulle/io.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <vector>

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

namespace {

using namespace tulle;
using namespace std::chrono_literals;

using io_files = io_calls;

// A file with a name that goes at the end.
class named_file {
public:
    named_file() : m_name("/tmp/tulle-io-XXXXXX"), m_number(::mkstemp(m_name.data())) {
        EXPECT_GE(m_number, 0);
    }
    named_file(named_file const&) = delete;
    named_file& operator=(named_file const&) = delete;
    ~named_file() {
        ::close(m_number);
        ::unlink(m_name.c_str());
    }
    [[nodiscard]] int number() const noexcept { return m_number; }
    [[nodiscard]] char const* name() const noexcept { return m_name.c_str(); }

private:
    std::string m_name;
    int m_number;
};

std::vector<unsigned char> some_bytes(std::size_t count) {
    std::vector<unsigned char> bytes(count);
    for (std::size_t k = 0; k < count; ++k) bytes[k] = static_cast<unsigned char>(k * 7 + k / 256);
    return bytes;
}

// What the system does not have in memory any longer must be read from the disk.
void drop_from_memory(int number) {
    ASSERT_EQ(::fsync(number), 0);
    ASSERT_EQ(::posix_fadvise(number, 0, 0, POSIX_FADV_DONTNEED), 0);
}

TEST_P(io_files, what_is_not_in_memory_is_read_whole) {
    named_file const file;
    auto const bytes = some_bytes(1U << 20U);
    ASSERT_EQ(io::pwrite(file.number(), bytes.data(), bytes.size(), 0),
              static_cast<ssize_t>(bytes.size()));
    drop_from_memory(file.number());
    std::array<char, 64> few{}; // so that a part of it is in memory
    EXPECT_EQ(io::pread(file.number(), few.data(), few.size(), 0), 64);
    std::vector<unsigned char> got(bytes.size() + 100);
    EXPECT_EQ(io::pread(file.number(), got.data(), got.size(), 0),
              static_cast<ssize_t>(bytes.size()));
    got.resize(bytes.size());
    EXPECT_EQ(got, bytes);
    drop_from_memory(file.number());
    std::vector<unsigned char> again(bytes.size());
    ASSERT_EQ(::lseek(file.number(), 0, SEEK_SET), 0);
    EXPECT_EQ(io::read(file.number(), again.data(), again.size()),
              static_cast<ssize_t>(again.size()));
    EXPECT_EQ(again, bytes);
    EXPECT_EQ(io::pread(file.number(), few.data(), few.size(), 1 << 20), 0); // the end
}

// Of every other part the beginning is in memory, and the rest is not.
TEST_P(io_files, what_a_thread_reads_lies_in_one_piece) {
    constexpr std::size_t k_part = 1U << 16U;
    constexpr std::size_t k_words = (4U << 20U) / sizeof(std::uint32_t);
    named_file const file;
    std::vector<std::uint32_t> words(k_words);
    for (std::size_t k = 0; k < k_words; ++k) words[k] = static_cast<std::uint32_t>(k);
    auto const bytes = static_cast<ssize_t>(k_words * sizeof words[0]);
    ASSERT_EQ(io::pwrite(file.number(), words.data(), k_words * sizeof words[0], 0), bytes);
    for (int round = 0; round < 5; ++round) {
        drop_from_memory(file.number());
        ASSERT_EQ(::posix_fadvise(file.number(), 0, 0, POSIX_FADV_RANDOM), 0);
        char c = 0;
        for (off_t at = 0; at < bytes; at += k_part)
            ASSERT_EQ(::pread(file.number(), &c, 1, at), 1);
        ASSERT_EQ(::lseek(file.number(), 0, SEEK_SET), 0);
        std::vector<thread<ssize_t>> readers;
        for (int k = 0; k < 4; ++k)
            readers.push_back(spawn([&] {
                std::vector<std::uint32_t> part(k_part / sizeof(std::uint32_t));
                ssize_t sum = 0, got = 0;
                while ((got = io::read(file.number(), part.data(), k_part)) > 0) {
                    auto const end = part.begin() + got / ssize_t{sizeof part[0]};
                    bool const is_whole =
                        std::adjacent_find(part.begin(), end, [](std::uint32_t a, std::uint32_t b) {
                            return b != a + 1;
                        }) == end;
                    EXPECT_TRUE(is_whole);
                    sum += got;
                    this_thread::yield();
                }
                return sum;
            }));
        ssize_t sum = 0;
        for (auto& r : readers) sum += r.join();
        EXPECT_EQ(sum, bytes);
    }
}

TEST_P(io_files, files_are_opened_and_synchronised) {
    named_file const file;
    int const number = io::open(file.name(), O_RDWR | O_CLOEXEC);
    ASSERT_GE(number, 0) << std::strerror(-number);
    EXPECT_EQ(io::write(number, "there", 5), 5);
    EXPECT_EQ(io::fsync(number), 0);
    EXPECT_EQ(io::fdatasync(number, wait_limit(20s)), 0);
    EXPECT_EQ(io::close(number), 0);
    EXPECT_EQ(io::open("/nowhere/at/all", O_RDONLY), -ENOENT);
    EXPECT_EQ(io::open(nullptr, O_RDONLY), -EFAULT);
    EXPECT_EQ(io::fsync(-1), -EBADF);
    EXPECT_EQ(io::pread(-1, nullptr, 0, 0), -EBADF);
    std::array<char, 1> one{};
    EXPECT_EQ(io::pread(number, one.data(), 1, -1, wait_limit(1s)), -EINVAL);
}

// FIFOs, of which each helper opens one or waits to: that blocks until another thread comes.
class opened_pipes {
public:
    static constexpr std::size_t k_count = 2 * io::helpers::k_most;

    opened_pipes() {
        EXPECT_NE(::mkdtemp(m_folder.data()), nullptr);
        for (std::size_t k = 0; k < k_count; ++k) {
            m_names.push_back(m_folder + "/" + std::to_string(k));
            EXPECT_EQ(::mkfifo(m_names.back().c_str(), 0600), 0);
        }
        // From the first call on there is one. Who calls while the first one is being started makes
        // the call itself, as the one that starts it may wait for the caller; here it would block a
        // worker for good, as there are no substitutes.
        EXPECT_TRUE(has_a_helper(20s));
        for (auto const& name : m_names)
            m_readers.push_back(
                spawn([&name] { return io::open(name.c_str(), O_RDONLY | O_CLOEXEC); }));
        while (has_a_helper(20ms)) {}
    }
    opened_pipes(opened_pipes const&) = delete;
    opened_pipes& operator=(opened_pipes const&) = delete;
    ~opened_pipes() {
        std::vector<int> writers(k_count, -1);
        while (std::count(writers.begin(), writers.end(), -1) != 0) {
            for (std::size_t k = 0; k < k_count; ++k) { // those whose readers have come
                if (writers[k] < 0)
                    writers[k] = ::open(m_names[k].c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
            }
            this_thread::sleep_for(1ms);
        }
        for (std::size_t k = 0; k < k_count; ++k) {
            int const reader = m_readers[k].join();
            EXPECT_GE(reader, 0);
            EXPECT_EQ(io::close(reader), 0);
            EXPECT_EQ(io::close(writers[k]), 0);
        }
        for (auto const& name : m_names) ::unlink(name.c_str());
        ::rmdir(m_folder.c_str());
    }

private:
    static bool has_a_helper(std::chrono::milliseconds patience) {
        int const number = io::open("/dev/null", O_RDONLY | O_CLOEXEC, 0, wait_limit(patience));
        if (number >= 0) ::close(number);
        return number != -ETIMEDOUT;
    }

    std::string m_folder = "/tmp/tulle-io-XXXXXX";
    std::vector<std::string> m_names;
    std::vector<thread<int>> m_readers;
};

TEST_P(io_files, calls_that_block_leave_the_workers_free) { opened_pipes const pipes; }

// The system may say now and then that it would have to wait, when others change names meanwhile.
TEST_P(io_files, what_is_in_memory_is_opened_without_a_helper) {
    TULLE_SKIP_IF_EMULATED("the emulator has no openat2");
    constexpr int k_most_tries = 50;
    named_file const file;
    opened_pipes const pipes;
    int number = -ETIMEDOUT;
    for (int k = 0; k != k_most_tries && number == -ETIMEDOUT; ++k)
        number = io::open(file.name(), O_RDWR | O_CLOEXEC, 0, wait_limit(20ms));
    ASSERT_GE(number, 0) << std::strerror(-number);
    EXPECT_EQ(io::write(number, "x", 1), 1);
    EXPECT_EQ(io::close(number), 0);
}

TEST_P(io_files, a_cancelled_call_does_not_begin) {
    cancellation_source source;
    source.request_stop();
    named_file const file;
    ::unlink(file.name());
    EXPECT_EQ(io::open(file.name(), O_CREAT | O_RDWR, 0600, wait_limit(source.get_token())),
              -ECANCELED);
    EXPECT_EQ(::access(file.name(), F_OK), -1);
}

TEST_P(io_files, children_are_waited_for) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    pid_t const child = ::fork();
    if (child == 0) {
        char c = 0;
        ::close(ends[1]);
        static_cast<void>(::read(ends[0], &c, 1)); // until it is let go
        ::usleep(20'000);
        _exit(7);
    }
    EXPECT_EQ(io::waitpid(child, nullptr, WNOHANG), 0);
    EXPECT_EQ(io::waitpid(child, nullptr, 0, wait_limit(1ms)), -ETIMEDOUT);
    for (int const each : ends) ::close(each);
    int status = 0;
    EXPECT_EQ(io::waitpid(child, &status, 0), child);
    EXPECT_EQ(WEXITSTATUS(status), 7);
    EXPECT_EQ(io::waitpid(child, &status, 0), -ECHILD);
    pid_t const other = ::fork();
    if (other == 0) _exit(3);
    EXPECT_EQ(io::waitpid(-1, &status, 0, wait_limit(50s)), other);
    EXPECT_EQ(WEXITSTATUS(status), 3);
}

TEST_P(io_files, numbers_are_resolved) {
    addrinfo hints{};
    hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    ASSERT_EQ(io::getaddrinfo("127.0.0.1", "80", &hints, &found), 0);
    EXPECT_EQ(found->ai_family, AF_INET);
    ::freeaddrinfo(found);
    EXPECT_EQ(io::getaddrinfo("no number", "80", &hints, &found, wait_limit(20s)), EAI_NONAME);
}

INSTANTIATE_TEST_SUITE_P(workers, io_files, ::testing::Values(1, 2));

} // namespace

// SPDX-License-Identifier: Apache-2.0
// Coherent memory by a directory, on hosts that are OS threads with copies of their own: whatever
// several store into one line, side by side and with nothing between, all of it is there.
#include "base/sanitize.hpp"
#include "dsm/directory_host.hpp"
#include "os/shared_memory.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <memory>
#include <thread>
#include <vector>

namespace tulle::dsm {
namespace {

constexpr std::uint64_t k_used_lines = 8; // that are used, of a chunk
constexpr std::uint64_t k_rounds = 2000;

class one_machine {
public:
    explicit one_machine(host_number hosts, std::uint64_t chunks = 2)
        : m_chosen{TULLE_COHERENT_FIRST, chunks * used_chunks::k_bytes, 1, hosts} {
        host_map map;
        for (host_number h = 0; h < hosts; ++h) map.near.push_back(h);
        os::shared_file const file = os::shared_file::create("directory-test");
        EXPECT_TRUE(file.is_open() && file.grow(directory_file(m_chosen, hosts).size()));
        for (; map.here < hosts; ++map.here)
            m_hosts.push_back(
                std::make_unique<directory_host>(m_chosen, map, file.number(), 0, nullptr));
    }
    directory_host& at(host_number h) { return *m_hosts[h]; }
    // In so many threads of each host: f(number of the thread, its host).
    template <class F> void run(F f, unsigned threads_of_a_host = 1) {
        std::vector<std::thread> threads;
        for (unsigned k = 0; k < m_hosts.size() * threads_of_a_host; ++k)
            threads.emplace_back([this, f, k, threads_of_a_host] {
                f(k, at(static_cast<host_number>(k / threads_of_a_host)));
            });
        for (auto& each : threads) each.join();
    }
    [[nodiscard]] line_range chunk(std::uint64_t number) const {
        return {m_chosen.first_line() + number * used_chunks::k_lines, used_chunks::k_lines};
    }

private:
    geometry m_chosen;
    std::vector<std::unique_ptr<directory_host>> m_hosts;
};

std::uint64_t address_of(std::uint64_t line, std::uint64_t byte) {
    return TULLE_COHERENT_FIRST + line * TULLE_COHERENT_LINE + byte;
}

template <class T> T load(directory_host& by, std::uint64_t address) {
    T value{};
    by.load(address, reinterpret_cast<std::byte*>(&value), sizeof value);
    return value;
}
template <class T> void store(directory_host& by, std::uint64_t address, T value) {
    by.store(address, reinterpret_cast<std::byte const*>(&value), sizeof value);
}

constexpr std::uint64_t k_add = TULLE_COHERENT_ATOMIC_ADD | std::uint64_t{3}
                                                                << TULLE_COHERENT_ATOMIC_SIZE_SHIFT;

class directory_of : public ::testing::TestWithParam<host_number> {};

TEST_P(directory_of, hosts_keeps_what_several_store_into_one_line) {
    host_number const hosts = GetParam();
    one_machine all(hosts);
    all.at(0).add(all.chunk(0));
    store<std::uint64_t>(all.at(0), address_of(0, 0), 7); // before others use it
    all.at(0).share();
    std::atomic<std::uint64_t> errors{0};
    all.run([&errors, hosts](unsigned h, directory_host& by) {
        for (std::uint64_t k = 0; k < k_rounds; ++k) {
            std::uint64_t const line = k % k_used_lines;
            auto const own = address_of(line, 8 * (h + 1U));
            store(by, own, load<std::uint64_t>(by, own) + 1);
            by.access({address_of(line, 8 * (hosts + 1U)), 1, 0, k_add});
            if (k % 7 == 0) {
                store(by, own, load<std::uint64_t>(by, own) - 1);
                by.fill(address_of(k_used_lines, h), static_cast<std::uint8_t>(k), 1);
                if (load<std::uint8_t>(by, address_of(k_used_lines, h)) !=
                    static_cast<std::uint8_t>(k))
                    ++errors;
                store(by, own, load<std::uint64_t>(by, own) + 1);
            }
        }
    });
    EXPECT_EQ(errors, 0U);
    for (host_number reader = 0; reader < hosts; ++reader) {
        EXPECT_EQ(load<std::uint64_t>(all.at(reader), address_of(0, 0)), 7U);
        for (std::uint64_t line = 0; line < k_used_lines; ++line) {
            for (host_number h = 0; h < hosts; ++h)
                EXPECT_EQ(load<std::uint64_t>(all.at(reader), address_of(line, 8 * (h + 1U))),
                          k_rounds / k_used_lines);
            EXPECT_EQ(load<std::uint64_t>(all.at(reader), address_of(line, 8 * (hosts + 1U))),
                      k_rounds / k_used_lines * hosts);
        }
    }
}

TEST_P(directory_of, hosts_with_threads_keeps_what_these_store_into_one_line) {
    constexpr unsigned k_threads = 2; // of a host
    constexpr std::uint64_t k_few_lines = 2;
    constexpr std::uint64_t k_many_rounds = 10 * k_rounds;
    host_number const hosts = GetParam();
    one_machine all(hosts);
    all.at(0).add(all.chunk(0));
    all.at(0).share();
    // Each has bytes of its own in all lines, and counts in a word that is everybody's.
    all.run(
        [](unsigned k, directory_host& by) {
            for (std::uint64_t n = 0; n < k_many_rounds; ++n) {
                std::uint64_t const line = n % k_few_lines;
                auto const own = address_of(line, 4 * k);
                store(by, own, load<std::uint32_t>(by, own) + 1);
                by.access({address_of(line, TULLE_COHERENT_LINE - 8), 1, 0, k_add});
            }
        },
        k_threads);
    for (host_number reader = 0; reader < hosts; ++reader)
        for (std::uint64_t line = 0; line < k_few_lines; ++line) {
            for (unsigned k = 0; k < k_threads * hosts; ++k)
                EXPECT_EQ(load<std::uint32_t>(all.at(reader), address_of(line, 4 * k)),
                          k_many_rounds / k_few_lines);
            EXPECT_EQ(
                load<std::uint64_t>(all.at(reader), address_of(line, TULLE_COHERENT_LINE - 8)),
                k_many_rounds / k_few_lines * k_threads * hosts);
        }
}

TEST_P(directory_of, hosts_that_allocate_the_same_chunk_find_all_in_it) {
    one_machine all(GetParam());
    all.at(0).add(all.chunk(0));
    all.at(0).share();
    std::barrier<> begin(GetParam());
    all.run([&](unsigned h, directory_host& by) {
        begin.arrive_and_wait();
        by.add({all.chunk(1).first + h, 1});
        std::uint64_t const own = used_chunks::k_bytes + address_of(0, 8U * h);
        store<std::uint64_t>(by, own, h + 1U);
    });
    for (host_number h = 0; h < GetParam(); ++h)
        EXPECT_EQ(load<std::uint64_t>(all.at(GetParam() - 1),
                                      used_chunks::k_bytes + address_of(0, 8U * h)),
                  h + 1U);
}

INSTANTIATE_TEST_SUITE_P(some, directory_of, ::testing::Values(1U, 2U, 3U, 6U));

std::chrono::nanoseconds processor_time() {
    timespec taken{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &taken);
    return std::chrono::seconds(taken.tv_sec) + std::chrono::nanoseconds(taken.tv_nsec);
}

struct wait_of_thread {
    std::chrono::nanoseconds lasted;
    std::chrono::nanoseconds on_processor;
    std::chrono::nanoseconds sharing; // all of it
};

// Whether another host may use the line, as what was written there has been shared.
bool has_come(directory_host& by, std::uint64_t line) {
    auto const outside = by.begin_load(0); // of no line
    auto const found = by.begin_load(address_of(line, 0));
    directory_host::end(found);
    return found.entry != outside.entry;
}

// A thread allocates while another shares what it has written, which is copied to all other hosts,
// chunk by chunk: it begins when the first one has come, and waits for the rest.
wait_of_thread allocate_beside_sharing() {
    // The thread sanitizer notes each byte that is copied.
    constexpr std::uint64_t k_chunks = base::k_thread_sanitizer ? 4 : 64;
    one_machine all(3, k_chunks);
    directory_host& by = all.at(0);
    for (std::uint64_t k = 0; k < k_chunks; ++k) {
        by.add(all.chunk(k));
        by.fill(address_of(k * used_chunks::k_lines, 0), 1, used_chunks::k_bytes);
    }
    wait_of_thread waited{};
    std::thread other([&] {
        while (!has_come(all.at(1), 0)) std::this_thread::yield();
        auto const begin = std::chrono::steady_clock::now();
        auto const before = processor_time();
        by.add(all.chunk(0));
        waited.on_processor = processor_time() - before;
        waited.lasted = std::chrono::steady_clock::now() - begin;
    });
    auto const begin = std::chrono::steady_clock::now();
    by.share();
    auto const sharing = std::chrono::steady_clock::now() - begin;
    other.join();
    waited.sharing = sharing;
    EXPECT_EQ(load<std::uint8_t>(all.at(2), address_of(used_chunks::k_lines, 0)), 1);
    return waited;
}

TEST(directory_host, threads_that_wait_while_another_shares_leave_the_processor_to_it) {
    constexpr int k_most_tries = 50; // one, but for threads that got no processor meanwhile
    wait_of_thread waited{};
    auto const has_met = [&] { return waited.lasted > waited.sharing / 4; };
    for (int k = 0; k < k_most_tries && !has_met(); ++k) waited = allocate_beside_sharing();
    ASSERT_TRUE(has_met()) << "in none of the tries did the threads meet";
    EXPECT_LT(waited.on_processor, waited.lasted / 4);
}

TEST(directory_host, keeps_the_value_that_stands_for_no_data) {
    one_machine all(2);
    all.at(0).add(all.chunk(0));
    all.at(0).share();
    store<std::uint32_t>(all.at(0), address_of(1, 4), TULLE_DIRECTORY_NO_DATA);
    EXPECT_EQ(load<std::uint32_t>(all.at(1), address_of(1, 4)), TULLE_DIRECTORY_NO_DATA);
    EXPECT_EQ(load<std::uint32_t>(all.at(0), address_of(1, 4)), TULLE_DIRECTORY_NO_DATA);
}

TEST(directory_host, gives_all_what_one_alone_has_held) {
    one_machine all(3);
    all.at(0).add(all.chunk(0));
    all.at(0).share();
    store<std::uint64_t>(all.at(1), address_of(0, 0), 5); // host 1 alone has the line
    std::uint64_t const before = load<std::uint64_t>(all.at(0), address_of(0, 0));
    EXPECT_EQ(before, 5U);
    all.at(0).share_held({TULLE_COHERENT_FIRST / TULLE_COHERENT_LINE, 64});
    store<std::uint64_t>(all.at(2), address_of(0, 8), 6);
    EXPECT_EQ(load<std::uint64_t>(all.at(1), address_of(0, 8)), 6U);
    EXPECT_EQ(load<std::uint64_t>(all.at(1), address_of(0, 0)), 5U);
}

} // namespace
} // namespace tulle::dsm

// SPDX-License-Identifier: Apache-2.0
// Hosts of one machine whose programs share some pages of variables, and keep those around them for
// themselves; that store more than caches hold; and what they do about faults.
#include "dsm/basic_coherent_host.hpp"
#include "os/fixed_range.hpp"
#include "os/memory.hpp"
#include "os/shared_memory.hpp"
#include "os/touched_pages.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <tulle/coherent_abi.h>

namespace tulle::dsm {
namespace {

constexpr std::uint64_t k_chunk = used_chunks::k_bytes;
constexpr std::uint64_t k_page = used_chunks::k_page_bytes;
constexpr std::uint64_t k_lines_of_page = used_chunks::k_page_lines;
constexpr std::size_t k_length = 16; // of logs, which are soon too short

class one_of_two final : public checking_threads {
public:
    [[nodiscard]] std::size_t most() const noexcept override { return 2; }
    [[nodiscard]] std::size_t count() const noexcept override { return 2; }
    [[nodiscard]] std::size_t caller() const noexcept override { return 0; }
    [[nodiscard]] bool is_only_one() const noexcept override { return false; }
    [[nodiscard]] std::uint64_t point_of(std::size_t /*number*/) const noexcept override {
        return k_holds_no_check;
    }
};

// Each has a chunk of the program, and behind it one or more of allocated memory, at addresses of
// its own.
class two_hosts {
public:
    using host = basic_coherent_host<k_length, k_length>;

    explicit two_hosts(stores_are found = stores_are::checked, std::uint64_t allocated = 1,
                       std::uint64_t checked_at_once = 1, bool with_threads = true,
                       std::vector<std::uint64_t> const& written_before = {})
        : m_chosen{TULLE_COHERENT_PROGRAM, (2 + allocated) * k_chunk,
                   found == stores_are::checked ? checked_at_once : k_lines_of_page, 2, k_chunk},
          m_file(os::shared_file::create("coherent-test")) {
        EXPECT_TRUE(m_file.is_open() &&
                    m_file.grow(basic_shared_file<k_length, k_length>(m_chosen, 2).size()));
        for (host_number h = 0; h < 2; ++h) {
            std::uint64_t const at = os::fixed_range::usual_address() + 2 * h * m_chosen.bytes;
            m_programs.push_back(os::fixed_range::reserve(at, k_chunk));
            EXPECT_TRUE(m_programs[h].is_valid() && m_programs[h].fill(0, k_chunk));
            m_states.emplace_back(m_chosen.lines());
            m_hosts.push_back(std::make_unique<host>(
                m_chosen, host_map{h, {0, 1}, {}, nullptr}, m_file.number(), at + k_chunk,
                m_states[h].data(), outdated_copies::are_dropped, found,
                with_threads ? &m_threads : nullptr));
        }
        at(0).add({m_chosen.first_line() + used_chunks::k_lines, allocated * used_chunks::k_lines});
        for (std::uint64_t const offset : written_before)
            *at(0).own().own_at(address_of(offset) / TULLE_COHERENT_LINE) = std::byte{1};
        at(0).share();
    }
    host& at(host_number h) { return *m_hosts[h]; }

    static std::uint64_t address_of(std::uint64_t offset) {
        return TULLE_COHERENT_PROGRAM + offset;
    }
    std::uint8_t state(host_number h, std::uint64_t offset) const {
        return m_states[h][offset / TULLE_COHERENT_LINE];
    }
    // Of the program.
    std::uint8_t& byte(host_number h, std::uint64_t offset) {
        return *reinterpret_cast<std::uint8_t*>(m_programs[h].low() + offset);
    }
    // What is allocated, after one check for all of it.
    std::span<std::uint8_t> all_of(host_number h, access_kind wanted) {
        std::uint64_t const bytes = m_chosen.bytes - 2 * k_chunk;
        at(h).make_usable(address_of(k_chunk), address_of(k_chunk + bytes - 1), wanted);
        std::byte* const first = at(h).own().own_at(address_of(k_chunk) / TULLE_COHERENT_LINE);
        return {reinterpret_cast<std::uint8_t*>(first), bytes};
    }
    void store(host_number h, std::uint64_t offset, std::uint8_t value) {
        if (state(h, offset) != 0)
            at(h).make_usable(address_of(offset), address_of(offset), access_kind::store);
        byte(h, offset) = value;
    }
    std::uint8_t load(host_number h, std::uint64_t offset) {
        if ((state(h, offset) & TULLE_COHERENT_NO_LOAD) != 0)
            at(h).make_loadable(address_of(offset));
        return byte(h, offset);
    }
    void share_pages(std::uint64_t first, std::uint64_t pages) {
        line_range const lines{m_chosen.first_line() + first * k_lines_of_page,
                               pages * k_lines_of_page};
        for (host_number h = 0; h < 2; ++h) EXPECT_TRUE(at(h).hold(lines));
        at(0).share_held(lines);
        at(1).acquire();
    }
    void let_go_on(host_number from) {
        at(from).release();
        at(1 - from).acquire();
    }

private:
    geometry m_chosen;
    os::shared_file m_file;
    one_of_two m_threads;
    std::vector<os::fixed_range> m_programs;
    std::vector<std::vector<std::uint8_t>> m_states;
    std::vector<std::unique_ptr<host>> m_hosts;
};

constexpr std::array<std::uint64_t, 3> k_own_pages{1, 4, 6};

std::uint8_t first_value(std::uint64_t page, host_number h) {
    return static_cast<std::uint8_t>(10 * page + h);
}

TEST(basic_coherent_host, leaves_variables_alone_that_lie_between_shared_ones) {
    two_hosts all;
    for (host_number h = 0; h < 2; ++h) {
        for (std::uint64_t const page : k_own_pages)
            all.byte(h, page * k_page) = first_value(page, h);
        all.byte(h, 2 * k_page + 2) = first_value(2, h);
    }
    all.share_pages(2, 1);
    all.share_pages(5, 1);
    EXPECT_EQ(all.load(1, 2 * k_page + 2), first_value(2, 0));
    for (std::uint8_t round = 1; round < 20; ++round)
        for (host_number h = 0; h < 2; ++h) {
            auto const value = static_cast<std::uint8_t>(2 * round + h);
            for (std::uint64_t k = 0; k < k_page; k += TULLE_COHERENT_LINE) // more than logs have
                all.store(h, 5 * k_page + k, value);
            for (std::uint64_t const page : k_own_pages) all.store(h, page * k_page + 1, value);
            all.store(h, 2 * k_page + h, value);
            all.let_go_on(h);
            EXPECT_EQ(all.load(1 - h, 2 * k_page + h), value);
            EXPECT_EQ(all.load(1 - h, 6 * k_page - TULLE_COHERENT_LINE), value);
            for (std::uint64_t const page : k_own_pages) {
                EXPECT_EQ(all.state(h, page * k_page), 0) << page;
                EXPECT_EQ(all.load(h, page * k_page), first_value(page, h)) << page;
                EXPECT_EQ(all.load(h, page * k_page + 1), value) << page;
            }
        }
}

// What is behind the first mebibytes goes past caches. Each host leaves some bytes to the other.
TEST(basic_coherent_host, writes_back_more_than_caches_hold) {
    constexpr std::uint64_t k_chunks = 12;
    constexpr std::uint64_t k_of_home = 1009; // each of these bytes, on some lines none
    two_hosts all(stores_are::checked, k_chunks);
    std::span<std::uint8_t> const home = all.all_of(0, access_kind::store);
    std::fill(home.begin(), home.end(), std::uint8_t{1});
    all.let_go_on(0);
    for (std::uint8_t round = 2; round < 5; ++round) {
        std::span<std::uint8_t> const away = all.all_of(1, access_kind::store);
        static_cast<void>(all.all_of(0, access_kind::store));
        for (std::size_t k = 0; k < away.size(); ++k)
            (k % k_of_home == 0 ? home : away)[k] = static_cast<std::uint8_t>(round * (k / 64));
        all.at(1).release();
        all.let_go_on(0);
        all.at(0).acquire();
        for (host_number const h : {0U, 1U}) {
            std::span<std::uint8_t> const found = all.all_of(h, access_kind::load);
            std::size_t wrong = 0;
            for (std::size_t k = 0; k < found.size(); ++k)
                wrong += found[k] != static_cast<std::uint8_t>(round * (k / 64));
            EXPECT_EQ(wrong, 0U) << "host " << h << ", round " << int{round};
        }
    }
}

// The log would be too short for a notice of each unit.
TEST(basic_coherent_host, tells_of_a_long_run_at_once_though_lines_of_it_stay_as_they_are) {
    constexpr std::uint64_t k_lines_of_unit = 4;
    two_hosts all(stores_are::checked, 1, k_lines_of_unit);
    std::span<std::uint8_t> const home = all.all_of(0, access_kind::store);
    std::fill(home.begin(), home.end(), std::uint8_t{1});
    all.let_go_on(0);
    auto const& log = all.at(1).own().notices_of(1);
    std::uint64_t seen = 0;
    static_cast<void>(log.read(seen, [](line_range) {}));
    std::span<std::uint8_t> const away = all.all_of(1, access_kind::store);
    for (std::size_t k = 0; k < away.size(); ++k)
        if (k / TULLE_COHERENT_LINE % k_lines_of_unit != 0) away[k] = 2;
    all.at(1).release();
    std::vector<line_range> told;
    EXPECT_TRUE(log.read(seen, [&](line_range range) { told.push_back(range); }));
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told[0].count, away.size() / TULLE_COHERENT_LINE);
}

// The ranges that a host has told others of since it was last asked.
class notices_of {
public:
    notices_of(two_hosts& all, host_number writer)
        : m_log(all.at(writer).own().notices_of(writer)) {
        static_cast<void>(news());
    }
    [[nodiscard]] std::size_t news() {
        std::size_t count = 0;
        EXPECT_TRUE(m_log.read(m_seen, [&](line_range) { ++count; }));
        return count;
    }

private:
    std::remove_reference_t<decltype(std::declval<two_hosts::host&>().own().notices_of(0))>& m_log;
    std::uint64_t m_seen = 0;
};

// Nobody has to read of what is used by its home alone, and the unit stays writable there.
TEST(basic_coherent_host, tells_nobody_of_a_unit_at_home_without_readers) {
    for (bool const has_threads : {false, true}) {
        two_hosts all(stores_are::checked, 1, 1, has_threads);
        all.share_pages(1, 1);
        all.store(0, k_page, 1); // all copies were alike
        all.let_go_on(0);
        notices_of from(all, 0);
        for (std::uint8_t round = 2; round < 6; ++round) {
            all.store(0, k_page, round);
            all.let_go_on(0);
            EXPECT_EQ(from.news(), 0U) << int{round};
            EXPECT_EQ(all.state(0, k_page), k_writable);
        }
        EXPECT_EQ(all.load(1, k_page), 5);
        for (std::uint8_t round = 6; round < 9; ++round) {
            all.store(0, k_page, round);
            all.let_go_on(0);
            EXPECT_EQ(from.news(), round == 6 ? 1U : 0U) << "who has read it is told once";
        }
        EXPECT_EQ(all.load(1, k_page), 8);
    }
}

// Under a lock a counter would cost two changes of states and a twin for each turn.
TEST(basic_coherent_host, lets_a_unit_stay_writable_that_is_written_between_all_releases) {
    two_hosts all(stores_are::checked, 1, 1, false);
    all.share_pages(1, 1);
    for (std::uint64_t const offset : {k_page, k_page + k_page / 2}) all.store(0, offset, 0);
    all.let_go_on(0);
    auto const state_behind_release = [&all] {
        all.let_go_on(1);
        return all.state(1, k_page);
    };
    for (std::uint8_t round = 1; round <= 4; ++round) {
        all.store(1, k_page, round);
        EXPECT_EQ(state_behind_release(), round == 1 ? k_readable : k_writable) << int{round};
        EXPECT_EQ(all.load(0, k_page), round);
    }
    EXPECT_EQ(state_behind_release(), k_readable) << "it has not changed";
    all.store(1, k_page, 9);
    EXPECT_EQ(state_behind_release(), k_readable) << "for the first time again";
    EXPECT_EQ(all.load(0, k_page), 9);
    all.store(1, k_page, 8);
    all.store(1, k_page + k_page / 2, 1);
    EXPECT_EQ(state_behind_release(), k_readable) << "one of two";
    EXPECT_EQ(all.load(0, k_page), 8);
}

// What takes long is not put off until the caller holds its lock by a word that others look at.
TEST(basic_coherent_host, leaves_a_short_release_to_a_caller_with_a_fence) {
    two_hosts all(stores_are::checked, 1, 1, false);
    all.share_pages(1, 2);
    all.store(0, k_page, 1);
    EXPECT_TRUE(all.at(0).begin_release());
    all.at(1).acquire();
    EXPECT_EQ(all.load(1, k_page), 0) << "nothing has happened yet";
    all.at(0).release_behind_fence();
    all.at(1).acquire();
    EXPECT_EQ(all.load(1, k_page), 1);
    for (host_number const h : {0U, 1U}) {
        for (std::uint64_t k = 0; k < 2 * k_page; k += TULLE_COHERENT_LINE)
            all.store(h, k_page + k, static_cast<std::uint8_t>(2 + h));
        EXPECT_FALSE(all.at(h).begin_release());
        all.at(1 - h).acquire();
        EXPECT_EQ(all.load(1 - h, 3 * k_page - TULLE_COHERENT_LINE), 2 + h);
    }
}
TEST(basic_coherent_host, leaves_no_release_to_a_caller_where_there_are_threads) {
    two_hosts all;
    all.share_pages(1, 1);
    all.store(0, k_page, 1);
    EXPECT_FALSE(all.at(0).begin_release());
    all.at(1).acquire();
    EXPECT_EQ(all.load(1, k_page), 1);
}

std::size_t touched_pages(two_hosts& all, host_number h, std::uint64_t chunk) {
    std::size_t count = 0;
    os::for_each_touched_page(
        all.at(h).own().own_at(two_hosts::address_of(k_chunk * chunk) / TULLE_COHERENT_LINE),
        k_chunk, [](std::byte*, void* to) noexcept { ++*static_cast<std::size_t*>(to); }, &count);
    return count;
}

// A test for these needs a system that does it in one call.
bool can_populate() {
    std::vector<std::byte> tried(2 * os::page_size());
    std::size_t const behind = reinterpret_cast<std::uintptr_t>(tried.data()) % os::page_size();
    return os::system_memory().populate(
        {tried.data() + os::page_size() - behind, os::page_size(), os::page_size(), 1});
}

// Each page would be a fault of its own in the middle of the program.
TEST(basic_coherent_host, has_memory_behind_what_is_allocated_but_for_very_much) {
    if (!can_populate()) GTEST_SKIP() << "the system does not do that in one call";
    // What was written comes first, and then what was allocated last. A page may be a huge one.
    std::uint64_t const most = two_hosts::host::memory::most_populated() / 2 / k_chunk;
    std::uint64_t const last = most + 7;
    two_hosts all(stores_are::checked, last, k_lines_of_page, true, {k_chunk + 5 * k_page});
    EXPECT_LT(touched_pages(all, 1, last), k_chunk / os::page_size()) << "it has not heard of it";
    all.at(1).acquire();
    for (host_number const h : {0U, 1U}) {
        for (std::uint64_t const chunk : {std::uint64_t{1}, last - most + 2, last})
            EXPECT_EQ(touched_pages(all, h, chunk), k_chunk / os::page_size()) << h << ' ' << chunk;
        EXPECT_EQ(touched_pages(all, h, 4), 0U) << h;
    }
}

TEST(basic_coherent_host, has_what_is_shared_or_allocated) {
    two_hosts all;
    all.share_pages(2, 1);
    for (host_number h = 0; h < 2; ++h) {
        for (std::uint64_t const offset : {2 * k_page, 3 * k_page - 1, k_chunk, 2 * k_chunk - 1})
            EXPECT_TRUE(all.at(h).has(two_hosts::address_of(offset))) << offset;
        for (std::uint64_t const offset :
             {2 * k_page - 1, 3 * k_page, k_chunk - 1, 2 * k_chunk, 3 * k_chunk})
            EXPECT_FALSE(all.at(h).has(two_hosts::address_of(offset))) << offset;
    }
}

// A store would fault again and again if the handler took what is not there for what another thread
// has made writable.
TEST(basic_coherent_host, resolves_no_fault_where_nothing_is_allocated) {
    if (os::page_size() > k_page) GTEST_SKIP() << "units are no pages";
    two_hosts all(stores_are::found_by_faults);
    all.at(1).acquire();
    for (std::uint64_t const offset : {std::uint64_t{0}, k_chunk - 1, 2 * k_chunk, 3 * k_chunk})
        EXPECT_FALSE(all.at(1).resolve_fault(two_hosts::address_of(offset))) << offset;
    EXPECT_TRUE(all.at(1).resolve_fault(two_hosts::address_of(k_chunk)));
    EXPECT_TRUE(all.at(1).resolve_fault(two_hosts::address_of(k_chunk))); // another thread
}

// The program may have protected a page itself, and have a handler for that.
TEST(basic_coherent_host, leaves_a_fault_alone_that_comes_again_and_again) {
    if (os::page_size() > k_page) GTEST_SKIP() << "units are no pages";
    two_hosts all(stores_are::found_by_faults);
    all.at(1).acquire();
    unsigned times = 0;
    while (all.at(1).resolve_fault(two_hosts::address_of(k_chunk))) ASSERT_LT(++times, 1'000'000U);
    EXPECT_GT(times, 1000U); // so many threads may have stored there at the same time
}

} // namespace
} // namespace tulle::dsm

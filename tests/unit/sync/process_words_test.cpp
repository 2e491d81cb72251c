// SPDX-License-Identifier: Apache-2.0
#include "arch/fiber_annotations.hpp"
#include "emulated.hpp"
#include "sync/process_words.hpp"

#include "forked_child.hpp"
#include "one_worker.hpp"
#include "os/memory.hpp"

#include <tulle.h>
#include <tulle/tulle.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <new>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace {

thread_local bool t_memory_is_refused = false; // by the heap, to the library

} // namespace

void* operator new(std::size_t bytes, std::nothrow_t const&) noexcept {
    if (t_memory_is_refused) return nullptr;
    try {
        return ::operator new(bytes);
    } catch (std::bad_alloc const&) {
        return nullptr;
    }
}

namespace {

namespace feb = tulle::feb;
using namespace std::chrono_literals;

TEST(feb, smoke) {
    std::uint64_t word = 7;
    EXPECT_TRUE(feb::is_full(word));
    EXPECT_EQ(feb::read_ff(word), 7U);
    EXPECT_EQ(feb::read_fe(word), 7U);
    EXPECT_FALSE(feb::is_full(word));
    EXPECT_EQ(feb::try_read_fe(word), std::nullopt);
    feb::write_ef(word, 8);
    EXPECT_FALSE(feb::try_write_ef(word, 9));
    EXPECT_EQ(feb::read_ff(word), 8U);
    feb::purge(word);
    EXPECT_EQ(feb::read_xx(word), 0U);
    EXPECT_FALSE(feb::is_full(word));
    feb::write_f(word, 5);
    EXPECT_EQ(feb::read_ff(word), 5U);
}

TEST(feb, words_of_any_type_that_fits) {
    enum class color : std::uint8_t { red, green };
    struct alignas(8) pair {
        int a, b;
    };
    color c = color::red;
    pair p{1, 2};
    double d = 0.5;
    int const* pointer = nullptr;
    feb::empty(c);
    feb::write_ef(c, color::green);
    EXPECT_EQ(feb::read_ff(c), color::green);
    feb::purge(p, {3, 4});
    feb::write_f(p, {5, 6});
    EXPECT_EQ(feb::read_ff(p).b, 6);
    feb::write_ff(d, 1.5);
    EXPECT_EQ(feb::read_ff(d), 1.5);
    feb::write_f(pointer, &p.a);
    EXPECT_EQ(feb::read_ff(pointer), &p.a);
    static_assert(!feb::word<std::array<char, 4>> && !feb::word<long double> &&
                  !feb::word<int const>);
}

TEST(feb, the_bytes_of_a_word_are_words) {
    alignas(8) std::array<std::uint8_t, 16> bytes{};
    for (std::size_t k = 0; k < bytes.size(); k += 2) feb::empty(bytes[k]);
    for (std::size_t k = 0; k < bytes.size(); ++k)
        EXPECT_EQ(feb::is_full(bytes[k]), k % 2 == 1) << k;
    for (std::size_t k = 0; k < bytes.size(); k += 2)
        feb::write_ef(bytes[k], static_cast<std::uint8_t>(k));
    for (std::size_t k = 0; k < bytes.size(); ++k)
        EXPECT_EQ(feb::read_ff(bytes[k]), k % 2 == 1 ? 0 : k);
}

// In a table of 16 slots.
TEST(feb, words_that_share_a_slot) {
    std::vector<std::uint64_t> memory(2000);
    std::array<tulle::sync::full_empty_table<tulle::sync::parking>::slot_type, 16> slots{};
    std::array<tulle::sync::full_empty_table<tulle::sync::parking>::count_type, 16> counts{};
    tulle::sync::full_empty_table<tulle::sync::parking> const small(slots.data(), counts.data(),
                                                                    slots.size());
    using cell = tulle::sync::memory_cell<std::uint64_t>;
    using word = tulle::sync::full_empty_word<tulle::sync::parking, cell>;
    constexpr std::size_t k_words = 1000;
    for (std::size_t k = 0; k < k_words; ++k)
        EXPECT_EQ(word(small, cell(&memory[k])).empty(), tulle::sync::word_result::done);
    for (std::size_t k = 0; k < k_words; ++k) EXPECT_FALSE(word(small, cell(&memory[k])).is_full());
    EXPECT_TRUE(word(small, cell(&memory[k_words])).is_full());
    for (std::size_t k = 0; k < k_words; k += 3)
        EXPECT_EQ(word(small, cell(&memory[k])).write_ef(k, 0), tulle::sync::word_result::done);
    for (std::size_t k = 0; k < k_words; ++k)
        EXPECT_EQ(word(small, cell(&memory[k])).is_full(), k % 3 == 0) << k;
    for (std::size_t k = 0; k < k_words; ++k)
        EXPECT_EQ(word(small, cell(&memory[k])).fill(), tulle::sync::word_result::done);
    for (auto const& s : slots) EXPECT_EQ(s.load(), 0U);
}

// A word in another region of the address space that has the slot of `w`.
std::uint64_t& partner_of(std::uint64_t& w, std::byte* far_away) {
    auto const& table = tulle::sync::process_words();
    auto const wanted = reinterpret_cast<std::uintptr_t>(&w);
    auto at = reinterpret_cast<std::uintptr_t>(far_away) + wanted % 4096;
    while (&table.bucket_of(at).slot != &table.bucket_of(wanted).slot) at += 4096;
    return *reinterpret_cast<std::uint64_t*>(at);
}

TEST(feb, without_memory_a_word_that_would_need_it_stays_full) {
#if defined(TULLE_ANNOTATE_THREAD) && defined(__clang__)
    GTEST_SKIP() << "clang links ThreadSanitizer's operator new before that of this file";
#endif
    constexpr std::size_t k_region = std::size_t{1} << 27;
    auto* const memory =
        static_cast<std::byte*>(tulle::os::system_memory().reserve(3 * k_region, k_region));
    ASSERT_NE(memory, nullptr);
    auto& first = *reinterpret_cast<std::uint64_t*>(memory + 4000);
    std::uint64_t& second = partner_of(first, memory + k_region);
    feb::empty(first);
    t_memory_is_refused = true;
    EXPECT_THROW(feb::empty(second), std::bad_alloc);
    EXPECT_THROW(feb::purge(second, 1), std::bad_alloc);
    EXPECT_THROW(static_cast<void>(feb::read_fe(second)), std::bad_alloc);
    EXPECT_EQ(tulle_feb_try_read_fe(nullptr, &second, 8), -ENOMEM);
    EXPECT_EQ(tulle_feb_empty(&second, 8), -ENOMEM);
    EXPECT_TRUE(feb::is_full(second));
    EXPECT_FALSE(feb::is_full(first));
    EXPECT_EQ(feb::read_ff(second), 0U);
    feb::write_f(second, 2);
    EXPECT_EQ(feb::try_read_ff_for(first, 1ms), std::nullopt); // waiting needs none
    t_memory_is_refused = false;
    EXPECT_EQ(feb::read_fe(second), 2U);
    EXPECT_FALSE(feb::is_full(second));
    feb::write_ef(first, 3);
    feb::write_ef(second, 4);
    EXPECT_EQ(feb::read_ff(first) + feb::read_ff(second), 7U);
    EXPECT_TRUE(tulle::os::system_memory().release(memory, 3 * k_region));
}

TEST(feb, a_dense_array_shares_no_slots) {
    auto const& table = tulle::sync::process_words();
    constexpr std::size_t k_words = 1 << 20;
    std::vector<std::uint64_t> memory(k_words);
    std::vector<void const*> slots;
    for (auto& w : memory)
        slots.push_back(&table.bucket_of(reinterpret_cast<std::uintptr_t>(&w)).slot);
    std::sort(slots.begin(), slots.end());
    EXPECT_EQ(std::adjacent_find(slots.begin(), slots.end()), slots.end());
}

TEST(feb, who_waits) {
    std::uint32_t word = 0;
    feb::empty(word);
    EXPECT_TRUE(feb::waiting(word).empty());
    auto first = tulle::spawn([&word] { return feb::read_fe(word); });
    auto second = tulle::spawn([&word] { return feb::try_read_ff_for(word, 1h).value(); });
    while (feb::waiting(word).size() < 2) tulle::this_thread::yield();
    auto ids = feb::waiting(word);
    std::sort(ids.begin(), ids.end());
    EXPECT_EQ(ids, (std::vector<tulle::thread_id>{std::min(first.get_id(), second.get_id()),
                                                  std::max(first.get_id(), second.get_id())}));
    feb::write_ef(word, 4);
    EXPECT_EQ(first.join() + second.join(), 8U);
    feb::fill(word);
}

// A taker owns the word until it fills it again, and may use it as a variable; readers never see
// that.
TEST(feb, readers_do_not_see_what_the_owner_of_an_empty_word_does) {
    long word = 0;
    std::atomic<bool> stop{false};
    std::atomic<long> seen{0};
    std::vector<std::thread> readers;
    for (int i = 0; i < 2; ++i) {
        readers.emplace_back([&] {
            while (!stop.load(std::memory_order_relaxed)) {
                if (feb::read_ff(word) < 0) ++seen;
            }
        });
    }
    auto const end = std::chrono::steady_clock::now() + 100ms;
    for (long round = 1; std::chrono::steady_clock::now() < end; ++round) {
        static_cast<void>(feb::read_fe(word));
        word = -round;
        feb::write_ef(word, round);
    }
    stop = true;
    for (auto& t : readers) t.join();
    EXPECT_EQ(seen.load(), 0);
}

TEST(feb, states_outlive_the_run_time) {
    std::uint64_t word = 0;
    if (tulle::is_initialized()) tulle::finalize();
    tulle::initialize({.workers = 2});
    feb::empty(word);
    tulle::finalize();
    EXPECT_FALSE(feb::is_full(word));
    tulle::initialize({.workers = 1});
    tulle::spawn([&word] { feb::write_ef(word, 3); }).join();
    EXPECT_EQ(feb::read_fe(word), 3U);
    tulle::finalize();
    feb::fill(word);
}

// Run in a child: 0 if all is as it should be.
int in_child(int (*check)(std::uint64_t*), std::uint64_t* words) {
    pid_t const child = fork();
    if (child == 0) _exit(check(words));
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return status;
}

TEST(feb, in_a_child_process_nobody_waits_and_states_are_as_they_were) {
    if (are_pages_emulated())
        GTEST_SKIP() << "the pages of /proc/self are those of the machine below";
    one_worker const alone; // see forked_child.hpp
    static std::array<std::uint64_t, 3> s_words{1, 2, 3};
    feb::empty(s_words[0]);
    feb::empty(s_words[1]);
    auto taker = tulle::spawn([] { return feb::read_fe(s_words[0]); });
    auto writer = tulle::spawn([] { feb::write_ef(s_words[2], 9); });
    while (feb::waiting(s_words[0]).empty() || feb::waiting(s_words[2]).empty())
        tulle::this_thread::yield();
    auto const check = [](std::uint64_t* w) {
        if (feb::is_full(w[0]) || feb::is_full(w[1]) || !feb::is_full(w[2])) return 1;
        if (!feb::waiting(w[0]).empty() || !feb::waiting(w[2]).empty()) return 2;
        feb::write_ef(w[0], 5);
        if (feb::read_ff(w[0]) != 5 || feb::read_fe(w[2]) != 3) return 3;
        if (!k_child_may_start_threads) return 0;
        auto there = tulle::spawn([w] { return feb::read_fe(w[1]); });
        feb::write_ef(w[1], 6);
        return there.join() == 6 ? 0 : 4;
    };
    EXPECT_EQ(in_child(check, s_words.data()), 0);
    feb::write_ef(s_words[0], 7);
    EXPECT_EQ(taker.join(), 7U);
    EXPECT_EQ(feb::read_fe(s_words[2]), 3U);
    writer.join();
    EXPECT_EQ(s_words[2], 9U);
    for (auto& w : s_words) feb::fill(w);
}

// Another thread is in the middle of an operation now and then.
TEST(feb, in_a_child_process_no_word_stays_locked) {
    if (are_pages_emulated())
        GTEST_SKIP() << "the pages of /proc/self are those of the machine below";
    static std::uint64_t s_word = 0;
    std::atomic<bool> stop{false}, runs{false};
    std::thread busy([&] {
        while (!stop) {
            static_cast<void>(feb::read_fe(s_word));
            feb::write_ef(s_word, 1);
            runs = true;
        }
    });
    while (!runs) std::this_thread::yield();
    for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(in_child(
                      [](std::uint64_t* w) {
                          feb::fill(*w);
                          static_cast<void>(feb::read_fe(*w));
                          return feb::is_full(*w) ? 1 : 0;
                      },
                      &s_word),
                  0);
    }
    stop = true;
    busy.join();
}

} // namespace

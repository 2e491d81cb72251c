// SPDX-License-Identifier: Apache-2.0
#include "dsm/used_chunks.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include <tulle/detail/machine.hpp>

namespace tulle::dsm {
namespace {

constexpr std::size_t k_chunks = 20000;

struct shared_list {
    std::atomic<std::uint32_t> count{0};
    std::vector<used_chunks::shared_entry> entries{k_chunks};

    used_chunks make() { return {count, entries, 0}; }
};

line_range chunk(std::uint64_t number) {
    return {number * used_chunks::k_lines, used_chunks::k_lines};
}

TEST(used_chunks, has_each_once_in_the_order_in_which_they_came) {
    shared_list list;
    used_chunks all = list.make();
    all.add({chunk(7).first + 1, 1});
    all.add({chunk(2).first, 2 * used_chunks::k_lines});
    all.add(chunk(7));
    std::vector<line_number> found;
    std::uint32_t seen = 0;
    all.read(seen, [&](line_range lines) { found.push_back(lines.first); });
    EXPECT_EQ(found, (std::vector<line_number>{chunk(7).first, chunk(2).first, chunk(3).first}));
    all.read(seen, [](line_range) { ADD_FAILURE() << "nothing new"; });
}

// Between the pages of the program that are shared lie others, at the end of it chunks begin.
TEST(used_chunks, are_pages_where_the_program_lies) {
    constexpr std::uint64_t pages = used_chunks::k_bytes / used_chunks::k_page_bytes;
    constexpr std::uint64_t page = used_chunks::k_page_lines;
    EXPECT_EQ(used_chunks::count_of(3 * used_chunks::k_bytes, used_chunks::k_bytes), pages + 2);
    std::atomic<std::uint32_t> count{0};
    std::vector<used_chunks::shared_entry> entries(pages + 2);
    constexpr line_number begin = 640 * used_chunks::k_lines;
    used_chunks all(count, entries, begin, used_chunks::k_bytes);
    all.add({begin + 2 * page, 2 * page});
    all.add({begin + used_chunks::k_lines - 1, 2});
    std::vector<std::pair<line_number, std::uint64_t>> found;
    std::uint32_t seen = 0;
    all.read(seen, [&](line_range l) { found.emplace_back(l.first - begin, l.count); });
    EXPECT_EQ(found, (std::vector<std::pair<line_number, std::uint64_t>>{
                         {2 * page, page},
                         {3 * page, page},
                         {used_chunks::k_lines - page, page},
                         {used_chunks::k_lines, used_chunks::k_lines}}));
    for (auto const& [first, lines] : found)
        EXPECT_TRUE(all.has(begin + first) && all.has(begin + first + lines - 1)) << first;
    for (std::uint64_t const other : {0 * page, 2 * page - 1, 4 * page,
                                      used_chunks::k_lines - page - 1, 2 * used_chunks::k_lines})
        EXPECT_FALSE(all.has(begin + other)) << other;
}

// Two hosts allocate in a chunk that neither has used, and each has to know of it before it goes
// on.
TEST(used_chunks, is_in_the_list_for_whoever_has_added_it) {
    shared_list list;
    std::barrier<> together(2);
    std::atomic<std::size_t> missed{0};
    auto const add_all = [&] {
        used_chunks all = list.make();
        std::uint32_t seen = 0;
        for (std::uint64_t k = 0; k < k_chunks; ++k) {
            if (k % 16 == 0) together.arrive_and_wait();
            all.add(chunk(k));
            bool is_there = false;
            all.read(seen, [&](line_range lines) {
                is_there = is_there || lines.first == chunk(k).first;
            });
            if (!is_there && list.count.load() <= k) ++missed;
        }
    };
    std::thread other(add_all);
    add_all();
    other.join();
    EXPECT_EQ(missed.load(), 0U);
}

// A process that waits for one which has lost its processor in the middle.
struct machine_of_two : tulle::detail::native_machine {
    static inline std::atomic<std::uint32_t>* s_word = nullptr; // the other one writes this next
    static inline std::uint32_t s_value = 0;

    static void yield_processor() noexcept { s_word->store(s_value); }
};
using watched_chunks = basic_used_chunks<machine_of_two>;

TEST(used_chunks, lets_a_process_go_on_that_has_counted_a_chunk_and_not_written_it) {
    std::atomic<std::uint32_t> count{1};
    std::vector<watched_chunks::shared_entry> entries(k_chunks);
    machine_of_two::s_word = &entries[0].number;
    machine_of_two::s_value = 8;
    std::uint32_t seen = 0;
    line_number found = 0;
    watched_chunks(count, entries, 0).read(seen, [&](line_range lines) { found = lines.first; });
    EXPECT_EQ(found, chunk(7).first);
}

TEST(used_chunks, lets_a_process_go_on_that_adds_the_same_chunk) {
    constexpr std::uint32_t k_is_added = 1;
    constexpr std::uint32_t k_is_listed = 2;
    std::atomic<std::uint32_t> count{0};
    std::vector<watched_chunks::shared_entry> entries(k_chunks);
    entries[3].use.store(k_is_added);
    machine_of_two::s_word = &entries[3].use;
    machine_of_two::s_value = k_is_listed;
    watched_chunks(count, entries, 0).add(chunk(3));
    EXPECT_EQ(count.load(), 0U); // the other one has counted it, or will
}

} // namespace
} // namespace tulle::dsm

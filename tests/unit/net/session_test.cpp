// SPDX-License-Identifier: Apache-2.0
#include "net/session.hpp"

#include "net/shm_transport.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <vector>

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tulle::net {
namespace {

// Whatever is leaked makes it larger.
int next_descriptor() {
    int const next = dup(STDERR_FILENO);
    close(next);
    return next;
}

session adopt_again(session const& s) { return session::adopt(dup(s.memory().descriptor())); }

TEST(session, has_as_many_places_as_asked_for) {
    for (rank const places : {1U, 2U, 32U, 33U, 256U, k_most_places}) {
        session const s = session::create(places);
        ASSERT_TRUE(s.is_valid()) << places;
        EXPECT_EQ(s.places(), places);
        EXPECT_TRUE(std::has_single_bit(s.lines())) << s.lines();
        EXPECT_EQ(s.head().deaths.load(), 0U);
        EXPECT_EQ(s.head().program.load(), 0U);
        for (rank r = 0; r < places; ++r)
            ASSERT_EQ(s.entry(r).state.load(), place_state::absent) << r;
    }
}

std::size_t bytes_in_memory(session const& s) {
    struct stat found {};
    return fstat(s.memory().descriptor(), &found) == 0
               ? static_cast<std::size_t>(found.st_blocks) * 512
               : 0;
}

class counts_messages final : public receiver {
public:
    void deliver(packet const& /*head*/, std::byte const* /*payload*/) noexcept override {
        ++count;
    }
    int count = 0;
};

TEST(session, rings_of_pairs_that_never_talk_take_no_memory) {
    constexpr rank k_places = 64;
    constexpr std::size_t k_page = 4096;
    session const all = session::create(k_places);
    std::vector<std::unique_ptr<shm_transport>> places;
    for (rank r = 0; r < k_places; ++r)
        places.push_back(std::make_unique<shm_transport>(adopt_again(all), r));
    std::size_t const entries = sizeof(session_head) + k_places * sizeof(place_entry) + k_page;
    counts_messages seen;
    for (auto const& p : places) static_cast<void>(p->poll(seen));
    EXPECT_LE(bytes_in_memory(all), entries);
    for (rank const from : {0U, 3U}) ASSERT_TRUE(places[from]->try_send(7, {}, nullptr));
    for (auto const& p : places) static_cast<void>(p->poll(seen));
    EXPECT_EQ(seen.count, 2);
    // Of each ring a page, and one with its control.
    EXPECT_LE(bytes_in_memory(all), entries + 2 * 2 * k_page);
}

TEST(session, of_no_place_or_too_many_is_refused) {
    for (rank const places : {0U, k_most_places + 1, ~0U}) {
        errno = 0;
        EXPECT_FALSE(session::create(places).is_valid()) << places;
        EXPECT_EQ(errno, EINVAL) << places;
    }
}

struct extent {
    void const* low;
    std::size_t size;

    [[nodiscard]] std::uintptr_t begin() const { return reinterpret_cast<std::uintptr_t>(low); }
    [[nodiscard]] std::uintptr_t end() const { return begin() + size; }
};

std::vector<extent> parts_of(session const& s) {
    std::vector<extent> parts{{&s.head(), sizeof(session_head)}};
    for (rank r = 0; r < s.places(); ++r) parts.push_back({&s.entry(r), sizeof(place_entry)});
    for (rank from = 0; from < s.places(); ++from)
        for (rank to = 0; to < s.places(); ++to) {
            parts.push_back({&s.control(from, to), sizeof(shared_ring_control)});
            parts.push_back({s.ring(from, to), s.lines() * sizeof(ring_line)});
        }
    std::sort(parts.begin(), parts.end(),
              [](extent const& a, extent const& b) { return a.begin() < b.begin(); });
    return parts;
}

TEST(session, parts_lie_apart_and_begin_with_a_cache_line) {
    for (rank const places : {1U, 2U, 3U, 33U, 256U}) {
        session const s = session::create(places);
        ASSERT_TRUE(s.is_valid()) << places;
        std::vector<extent> const parts = parts_of(s);
        ASSERT_EQ(parts.size(), 1 + places + 2 * std::size_t{places} * places);
        for (std::size_t k = 0; k < parts.size(); ++k) {
            ASSERT_EQ(parts[k].begin() % 64, 0U) << k;
            ASSERT_TRUE(k == 0 || parts[k - 1].end() <= parts[k].begin()) << k;
        }
        EXPECT_EQ(parts.front().low, s.memory().low());
        EXPECT_LE(parts.back().end(),
                  reinterpret_cast<std::uintptr_t>(s.memory().low()) + s.memory().size());
    }
}

TEST(session, is_the_same_for_all_who_adopt_it) {
    session const first = session::create(3);
    session const second = adopt_again(first);
    ASSERT_TRUE(second.is_valid());
    EXPECT_EQ(second.places(), 3U);
    EXPECT_EQ(second.lines(), first.lines());
    first.entry(2).state = place_state::joined;
    EXPECT_EQ(second.entry(2).state.load(), place_state::joined);
    first.control(1, 2).consumed = 42;
    EXPECT_EQ(second.control(1, 2).consumed.load(), 42U);
    first.ring(2, 1)[first.lines() - 1].tag = 43;
    EXPECT_EQ(second.ring(2, 1)[first.lines() - 1].tag.load(), 43U);
}

TEST(session, has_room_for_places_that_are_started_later) {
    session first = session::create(2);
    session second = adopt_again(first);
    std::uint32_t const lines = first.lines();
    ASSERT_TRUE(first.make_room(40));
    ASSERT_TRUE(second.make_room(40));
    EXPECT_EQ(second.places(), 40U);
    EXPECT_EQ(second.places_at_start(), 2U);
    EXPECT_EQ(second.lines(), lines);
    first.control(1, 39).consumed = 42;
    EXPECT_EQ(second.control(1, 39).consumed.load(), 42U);
    first.ring(39, 38)[lines - 1].tag = 43;
    EXPECT_EQ(second.ring(39, 38)[lines - 1].tag.load(), 43U);
    EXPECT_EQ(second.entry(39).state.load(), place_state::absent);
    std::vector<extent> const parts = parts_of(first);
    for (std::size_t k = 1; k < parts.size(); ++k)
        ASSERT_LE(parts[k - 1].end(), parts[k].begin()) << k;
    EXPECT_LE(parts.back().end(),
              reinterpret_cast<std::uintptr_t>(first.memory().low()) + first.memory().size());
    EXPECT_FALSE(second.make_room(41));
    EXPECT_EQ(errno, EINVAL);
}

TEST(session, remembers_how_many_places_are_wanted) {
    session const first = session::create(2);
    session const second = adopt_again(first);
    EXPECT_EQ(first.wanted_places(), 2U);
    EXPECT_TRUE(second.ask_for_places(5));
    EXPECT_TRUE(second.ask_for_places(3));
    EXPECT_EQ(first.wanted_places(), 5U);
    EXPECT_EQ(first.places(), 2U); // nobody has made room
}

void expect_no_session(int descriptor, int reason) {
    errno = 0;
    EXPECT_FALSE(session::adopt(descriptor).is_valid());
    EXPECT_EQ(errno, reason);
}

TEST(session, has_a_file_for_global_memory_that_grows_once) {
    session const first = session::create(2);
    session const second =
        session::adopt(dup(first.memory().descriptor()), dup(first.segments_descriptor()));
    ASSERT_TRUE(second.is_valid());
    ASSERT_TRUE(first.grow_segments(1U << 20U));
    EXPECT_TRUE(second.grow_segments(1U << 20U));
    EXPECT_FALSE(second.grow_segments(2U << 20U));
    EXPECT_EQ(errno, EINVAL);
    EXPECT_EQ(lseek(second.segments_descriptor(), 0, SEEK_END), off_t{1} << 20U);
    // It has not been inherited.
    EXPECT_FALSE(session::adopt(dup(first.memory().descriptor())).grow_segments(1U << 20U));
    EXPECT_FALSE(
        session::adopt(dup(first.memory().descriptor()), next_descriptor() + 100).is_valid());
}

class adopted_session : public testing::Test {
protected:
    ~adopted_session() override {
        EXPECT_EQ(next_descriptor(), m_next) << "a descriptor is left open";
    }

private:
    int m_next = next_descriptor();
};

TEST_F(adopted_session, is_no_descriptor_that_is_not_open) {
    expect_no_session(-1, EBADF);
    expect_no_session(next_descriptor(), EBADF);
}

TEST_F(adopted_session, is_no_pipe) {
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe(ends.data()), 0);
    expect_no_session(ends[0], EINVAL);
    close(ends[1]);
}

TEST_F(adopted_session, is_no_ordinary_file) {
    std::FILE* const file = std::tmpfile();
    ASSERT_NE(file, nullptr);
    for (int line = 0; line < 1000; ++line) std::fputs("what somebody has written down\n", file);
    ASSERT_EQ(std::fflush(file), 0);
    expect_no_session(dup(fileno(file)), EINVAL);
    std::fclose(file);
}

TEST_F(adopted_session, is_no_memory_without_contents) {
    expect_no_session(memfd_create("tulle-test", MFD_CLOEXEC), EINVAL);
    for (off_t const bytes : {1, 63, 64, 100'000}) {
        int const zeros = memfd_create("tulle-test", MFD_CLOEXEC);
        ASSERT_EQ(ftruncate(zeros, bytes), 0);
        expect_no_session(zeros, EINVAL);
    }
}

// Its own mapping is cut, too, and not touched any more.
TEST_F(adopted_session, is_not_part_of_one) {
    session const s = session::create(2);
    auto const whole = static_cast<off_t>(s.memory().size());
    for (off_t const bytes : {whole - 1, whole / 2, off_t{4096}, off_t{sizeof(session_head)},
                              off_t{sizeof(session_head)} - 1, off_t{1}}) {
        ASSERT_EQ(ftruncate(s.memory().descriptor(), bytes), 0);
        expect_no_session(dup(s.memory().descriptor()), EINVAL);
    }
}

TEST_F(adopted_session, has_a_head_that_makes_sense) {
    session const s = session::create(2);
    session_head& head = s.head();
    std::uint32_t const lines = head.lines;
    auto const expect_refused = [&s](char const* what) {
        SCOPED_TRACE(what);
        expect_no_session(dup(s.memory().descriptor()), EINVAL);
    };
    for (rank const places : {0U, 3U, k_most_places + 1, 1U << 31U, ~0U}) {
        head.places = places;
        expect_refused("places");
    }
    head.places = 2;
    for (std::uint32_t const wrong : {0U, 1U, lines - 1, lines / 2, 2 * lines, ~0U}) {
        head.lines = wrong;
        expect_refused("lines");
    }
    head.lines = lines;
    head.format = session_head::k_format + 1;
    expect_refused("format");
    head.format = session_head::k_format;
    EXPECT_TRUE(adopt_again(s).is_valid());
}

TEST(session, a_death_is_seen_by_all) {
    session const s = session::create(3);
    session const other = adopt_again(s);
    for (rank r = 0; r < 3; ++r) {
        s.entry(r).state = place_state::joined;
        s.entry(r).doorbell.arm();
    }
    other.declare_dead(1, 256);
    EXPECT_EQ(s.entry(1).state.load(), place_state::dead);
    EXPECT_EQ(s.entry(1).wait_status.load(), 256);
    EXPECT_EQ(s.head().deaths.load(), 1U);
    for (rank const r : {0U, 2U}) EXPECT_EQ(s.entry(r).state.load(), place_state::joined) << r;
    // returns: it has been woken
    for (rank r = 0; r < 3; ++r) s.entry(r).doorbell.sleep(os::k_no_deadline);
    other.declare_dead(2, 9);
    EXPECT_EQ(s.head().deaths.load(), 2U);
}

} // namespace
} // namespace tulle::net

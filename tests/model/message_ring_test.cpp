// SPDX-License-Identifier: Apache-2.0
//
// The ring between two places: messages of one and of two lines arrive once, whole and in order,
// around its end and when it is full.
#include "explorer/explore.hpp"
#include "net/message_ring.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace {

using namespace tulle;
using machine = model::machine;

constexpr std::uint32_t k_small = 4; // lines: nothing is done ahead
constexpr std::uint32_t k_large = 8; // one tag is cleared ahead

struct line {
    model::atomic<std::uint32_t> tag{0};
    model::plain<int> value{0};
};

// Messages 0, 1, ... of one or two lines, as the bits of `two` say; each line has the message's
// number and its own.
struct channel {
    using producer = net::ring_producer<machine, line>;
    using consumer = net::ring_consumer<machine, line>;

    explicit channel(int messages, unsigned two, std::uint32_t ring_lines = k_small)
        : count(messages), doubles(two), size(ring_lines) {}

    int count;
    unsigned doubles;
    std::uint32_t size;
    net::ring_control<machine> control;
    std::array<line, k_large> lines;
    producer in{control, lines.data(), size};
    consumer out{control, lines.data(), size};
    int refused = 0; // of the producer's thread

    [[nodiscard]] std::uint32_t lines_of(int message) const {
        return ((doubles >> static_cast<unsigned>(message)) & 1U) + 1;
    }
    static int content(int message, std::uint32_t k) {
        return 10 * (message + 1) + static_cast<int>(k);
    }

    line* reserve(std::uint32_t wanted) {
        line* first = in.reserve(wanted);
        for (; first == nullptr; first = in.reserve(wanted)) {
            ++refused;
            machine::pause();
        }
        model::check(first + wanted <= lines.data() + size, "a message lies in a row");
        return first;
    }
    void fill(line* first, int message) const {
        for (std::uint32_t k = 0; k < lines_of(message); ++k)
            first[k].value.store(content(message, k));
        // What lies there is no tag.
        if (lines_of(message) == 2) first[1].tag.store(1, std::memory_order_relaxed);
    }
    void send_all() {
        for (int m = 0; m < count; ++m) {
            fill(reserve(lines_of(m)), m);
            in.publish(lines_of(m));
        }
    }
    line const* wait_for_front() {
        line const* first = out.front();
        for (; first == nullptr; first = out.front()) machine::pause();
        return first;
    }
    void check_content(line const* first, int message) const {
        for (std::uint32_t k = 0; k < lines_of(message); ++k)
            model::check(first[k].value.load() == content(message, k),
                         "each message arrives whole and in its turn");
    }
    void receive_all() {
        for (int m = 0; m < count; ++m) {
            check_content(wait_for_front(), m);
            out.pop();
        }
    }
    void check_end() {
        model::check(out.front() == nullptr, "nothing arrives twice");
        model::check(control.consumed.load(std::memory_order_relaxed) >= total_lines(),
                     "all lines are the producer's again");
    }
    [[nodiscard]] std::uint64_t total_lines() const {
        return static_cast<std::uint64_t>(count) +
               static_cast<std::uint64_t>(std::popcount(doubles));
    }
};

// What the two ends do; by default as it should be.
using step = void (channel::*)();

model::test_body body(int messages, unsigned two, step send = &channel::send_all,
                      step receive = &channel::receive_all, int* refused = nullptr,
                      int* padded = nullptr, std::uint32_t lines = k_small) {
    return [=](model::test& t) {
        auto& c = t.make<channel>(messages, two, lines);
        t.thread([&c, send] { (c.*send)(); });
        t.thread([&c, receive] { (c.*receive)(); });
        t.at_end([=, &c] {
            c.check_end();
            if (refused != nullptr) *refused += c.refused;
            if (padded != nullptr &&
                c.control.consumed.load(std::memory_order_relaxed) > c.total_lines())
                ++*padded;
        });
    };
}

model::options exhaustive(std::size_t executions) { return model::exhaustive(2, executions); }

using model::random;

TEST(message_ring, messages_of_one_line) {
    model::result const r = model::explore("ring_single", exhaustive(200000), body(4, 0));
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_TRUE(r.is_as_complete_as_asked()) << r;
}

// 1, 2, 2: the last finds one line before the end, and the ring must be empty for it.
TEST(message_ring, a_message_goes_past_padding) {
    int padded = 0;
    model::result const r =
        model::explore("ring_padded", exhaustive(400000),
                       body(3, 0b110, &channel::send_all, &channel::receive_all, nullptr, &padded));
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_TRUE(r.is_as_complete_as_asked()) << r;
    EXPECT_GT(padded, 0);
}

TEST(message_ring, of_both_kinds_around_the_ring_twice) {
    int refused = 0;
    int padded = 0;
    model::result const r = model::explore(
        "ring_mixed", random(40000),
        body(7, 0b1010110, &channel::send_all, &channel::receive_all, &refused, &padded));
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_GT(static_cast<std::size_t>(refused), r.executions / 20);
    EXPECT_EQ(padded, static_cast<int>(r.executions));
}

TEST(message_ring, tags_are_cleared_ahead) {
    int refused = 0;
    int padded = 0;
    auto const mixed = body(13, 0b1'1010'1000'0000, &channel::send_all, &channel::receive_all,
                            &refused, &padded, k_large);
    model::result const r = model::explore("ring_ahead", random(40000), mixed);
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_GT(static_cast<std::size_t>(refused), r.executions / 20);
    EXPECT_GT(padded, 0);
}

TEST(message_ring, is_full_without_a_consumer) {
    model::result const r = model::explore("ring_full", exhaustive(1000), [](model::test& t) {
        auto& c = t.make<channel>(3, 0U);
        t.thread([&c] {
            for (int m = 0; m < 3; ++m) { // the tag behind the last one takes the fourth line
                line* const first = c.in.reserve(1);
                model::check(first != nullptr, "there is room for three");
                c.fill(first, m);
                c.in.publish(1);
            }
            model::check(c.in.reserve(1) == nullptr, "there is none for a fourth");
            c.receive_all();
            model::check(c.in.reserve(1) != nullptr, "it may be sent then");
        });
    });
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_TRUE(r.is_as_complete_as_asked()) << r;
}

// -- planted errors

struct faulty_channel : channel {
    using channel::channel;
    void publish_first() {
        for (int m = 0; m < count; ++m) {
            line* const first = reserve(lines_of(m));
            in.publish(lines_of(m));
            fill(first, m);
        }
    }
    void pop_first() {
        for (int m = 0; m < count; ++m) {
            line const* const first = wait_for_front();
            out.pop();
            check_content(first, m);
        }
    }
};

model::result explore_error(std::string_view name, void (faulty_channel::*send)(),
                            void (faulty_channel::*receive)()) {
    model::options o = random(20000);
    o.expect_failure = true;
    return model::explore(name, o, [=](model::test& t) {
        auto& h = t.make<faulty_channel>(5, 0b01010U);
        t.thread([&h, send] { (h.*send)(); });
        t.thread([&h, receive] { (h.*receive)(); });
    });
}

TEST(message_ring, must_be_filled_before_it_is_published) {
    model::result const r = explore_error("ring_publish_first", &faulty_channel::publish_first,
                                          &faulty_channel::receive_all);
    EXPECT_TRUE(r.failed);
    EXPECT_NE(r.message.find("data race"), std::string::npos) << r;
}

TEST(message_ring, must_be_read_before_it_is_popped) {
    model::result const r =
        explore_error("ring_pop_first", &faulty_channel::send_all, &faulty_channel::pop_first);
    EXPECT_TRUE(r.failed);
    EXPECT_NE(r.message.find("data race"), std::string::npos) << r;
}

TEST(message_ring, every_order_is_needed) {
    auto const mutants = model::weaken_each("ring_weakened", random(10000), body(5, 0b01010));
    EXPECT_EQ(mutants.size(), 4U); // the tag and the count, at both ends
    EXPECT_EQ(model::survivors(mutants), "");
}

} // namespace

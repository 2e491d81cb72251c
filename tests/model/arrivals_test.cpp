// SPDX-License-Identifier: Apache-2.0
//
// Barriers through memory: nobody goes on before the others have come, nobody waits for a message
// that does not come, and no message comes that nobody waits for. A message that is missing shows
// as a deadlock.
#include "explorer/explore.hpp"
#include "net/arrivals.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace {

using namespace tulle;
using enum std::memory_order;
using machine = model::machine;
using net::arrival;

constexpr std::uint64_t k_points = 2;

// One message for each point, as team/collective_inbox.hpp keeps them.
class message_box {
public:
    void post(std::uint64_t point) {
        ++m_posted;
        m_messages[point].store(1, release); // pairs with take
        machine::futex_wake(m_messages[point], 1);
    }
    void take(std::uint64_t point) {
        ++m_taken;
        // Pairs with post.
        while (m_messages[point].load(acquire) == 0) machine::futex_wait(m_messages[point], 0);
    }
    void check_empty() const { model::check(m_posted == m_taken, "each message is taken"); }
    [[nodiscard]] int taken() const { return m_taken; }

private:
    std::array<model::atomic<std::uint32_t>, k_points + 1> m_messages;
    int m_posted = 0; // by the one
    int m_taken = 0;  // by the other
};

// How one place tells another one that it has come, and what it has done before.
class direction {
public:
    void come(std::uint64_t point) {
        m_work[point].store(1);
        if (m_come.sends_messages()) return m_messages.post(point);
        m_come.come_to(point); // A1
        m_come.before_requests();
        if (m_come.take_request(0, point)) m_messages.post(point); // A2
    }
    void come_without_a_fence(std::uint64_t point) {
        m_work[point].store(1);
        m_come.come_to(point);
        if (m_come.take_request(0, point)) m_messages.post(point);
    }
    void fail() { m_come.send_from_now_on(); }

    void wait(std::uint64_t point) {
        // B1.
        arrival const seen = m_come.check(point);
        // B2, B3.
        if (seen == arrival::sends_messages ||
            (seen == arrival::not_come && m_come.leave_request(0, point)))
            m_messages.take(point);
        model::check(m_work[point].load() == 1, "it has come");
    }
    void check_empty() const { m_messages.check_empty(); }
    [[nodiscard]] int messages() const { return m_messages.taken(); }

private:
    net::arrivals<machine> m_come;
    message_box m_messages;
    std::array<model::plain<int>, k_points + 1> m_work;
};

using model::random;

model::options exhaustive(unsigned preemptions) { return model::exhaustive(preemptions, 400000); }

using role = void (*)(direction&);

void come_to_all(direction& d) {
    for (std::uint64_t p = 1; p <= k_points; ++p) d.come(p);
}
void wait_for_all(direction& d) {
    for (std::uint64_t p = 1; p <= k_points; ++p) d.wait(p);
}
// As when it takes part in other operations in between, or has no part in the first round.
void come_late(direction& d) { d.come(k_points); }
void wait_for_last(direction& d) { d.wait(k_points); }
void come_and_fail(direction& d) {
    d.come(1);
    d.fail();
    d.come(2);
}

model::test_body one_way(role comes, role waits, int* messages = nullptr) {
    return [=](model::test& t) {
        auto& d = t.make<direction>();
        t.thread([&d, comes] { comes(d); });
        t.thread([&d, waits] { waits(d); });
        t.at_end([=, &d] {
            d.check_empty();
            if (messages != nullptr) *messages += d.messages();
        });
    };
}

TEST(arrivals, one_waits_for_another) {
    model::result const r =
        model::explore("arrivals_one", exhaustive(3), one_way(&come_late, &wait_for_last));
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_TRUE(r.is_as_complete_as_asked()) << r;
}

TEST(arrivals, one_follows_another) {
    int messages = 0;
    model::result const r = model::explore("arrivals_two", random(60000),
                                           one_way(&come_to_all, &wait_for_all, &messages));
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_GT(static_cast<std::size_t>(messages), r.executions / 20);                 // some
    EXPECT_LT(static_cast<std::size_t>(messages), k_points * r.executions * 19 / 20); // not all
}

TEST(arrivals, points_are_left_out) {
    model::result const r =
        model::explore("arrivals_skipped", exhaustive(3), one_way(&come_to_all, &wait_for_last));
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_TRUE(r.is_as_complete_as_asked()) << r;
}

TEST(arrivals, a_failed_place_sends_messages) {
    model::result const r =
        model::explore("arrivals_failed", random(60000), one_way(&come_and_fail, &wait_for_all));
    EXPECT_TRUE(r.passed()) << r;
}

// Barriers of two.
struct both_ways {
    std::array<direction, 2> of;

    static void body(model::test& t) {
        auto& all = t.make<both_ways>();
        for (std::size_t mine = 0; mine < 2; ++mine)
            t.thread([&all, mine] {
                for (std::uint64_t p = 1; p <= k_points; ++p) {
                    all.of[mine].come(p);
                    all.of[1 - mine].wait(p);
                }
            });
        t.at_end([&all] {
            for (direction const& d : all.of) d.check_empty();
            model::check(all.of[0].messages() + all.of[1].messages() <= static_cast<int>(k_points),
                         "the last to come needs no message");
        });
    }
};

TEST(arrivals, two_wait_for_each_other) {
    model::result const r = model::explore("arrivals_both", random(60000), &both_ways::body);
    EXPECT_TRUE(r.passed()) << r;
}

// -- planted errors

void expect_failure(std::string_view name, char const* message, model::test_body const& body) {
    model::options o = random(40000);
    o.expect_failure = true;
    model::result const r = model::explore(name, o, body);
    EXPECT_TRUE(r.failed);
    EXPECT_NE(r.message.find(message), std::string::npos) << r;
}

TEST(arrivals, the_place_must_check_for_requests_after_a_fence) {
    expect_failure("arrivals_unfenced", "deadlock",
                   one_way([](direction& d) { d.come_without_a_fence(k_points); }, &wait_for_last));
}

TEST(arrivals, a_place_that_fails_must_say_so) {
    expect_failure("arrivals_silent", "deadlock",
                   one_way(
                       [](direction& d) {
                           d.come(1);
                           d.fail();
                       },
                       &wait_for_all));
}

TEST(arrivals, every_order_is_needed) {
    model::options o = random(20000);
    o.weakens = [](model::site const& s) { return s.file == "arrivals.hpp"; };
    auto mutants = model::weaken_each("arrivals_weakened", o, one_way(&come_to_all, &wait_for_all));
    mutants = model::found_by_any(
        std::move(mutants),
        model::weaken_each("arrivals_weakened_failing", o, one_way(&come_and_fail, &wait_for_all)));
    EXPECT_EQ(mutants.size(), 4U); // a release, an acquire, two fences
    EXPECT_EQ(model::survivors(mutants), "");
}

} // namespace

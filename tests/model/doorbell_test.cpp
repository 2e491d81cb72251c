// SPDX-License-Identifier: Apache-2.0
//
// The doorbell of a place: no message lies there while its sleeper sleeps and nobody watches. A
// lost wake-up shows as a deadlock, because all messages are waited for. The rule of which thread
// polls when others do, too, is that of messenger/endpoint.cpp.
#include "base/spin_lock.hpp"
#include "explorer/explore.hpp"
#include "net/doorbell.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string_view>

namespace {

using namespace tulle;
using enum std::memory_order;
using machine = model::machine;

// A place with one box for each sender, which a poll goes past one after the other.
class place {
public:
    explicit place(std::uint32_t messages) : m_awaited(messages) {}

    void send(std::size_t box) {
        m_boxes[box].store(1, release); // D1; pairs with poll
        m_bell.ring();                  // D2
    }
    // One OS thread at a time; true: there was something.
    bool poll() {
        std::uint32_t found = 0;
        for (auto& box : m_boxes)
            if (box.load(acquire) != 0) { // pairs with send
                box.store(0, relaxed);
                ++found;
            }
        if (found == 0) return false;
        // Who sleeps need not any longer.
        if (m_arrived.fetch_add(found, relaxed) + found == m_awaited) m_bell.wake();
        return true;
    }
    [[nodiscard]] bool has_all() const { return m_arrived.load(relaxed) == m_awaited; }
    [[nodiscard]] net::doorbell<machine>& bell() { return m_bell; }
    [[nodiscard]] net::watch_group<machine>& watchers() { return m_watchers; }
    [[nodiscard]] base::basic_spin_lock<machine>& polling() { return m_polling; }

    int sleeps = 0; // of the sleeper's thread
    void sleep(std::uint64_t deadline = model::k_no_deadline) {
        ++sleeps;
        m_bell.sleep(deadline);
    }

private:
    std::uint32_t m_awaited;
    std::array<model::atomic<std::uint32_t>, 2> m_boxes;
    model::atomic<std::uint32_t> m_arrived{0};
    net::doorbell<machine> m_bell;
    net::watch_group<machine> m_watchers;
    base::basic_spin_lock<machine> m_polling;
};

using model::random;

model::options exhaustive(unsigned preemptions) { return model::exhaustive(preemptions, 400000); }

void expect_lost_wake_up(std::string_view name, model::test_body const& body) {
    model::options o = random(40000);
    o.expect_failure = true;
    model::result const r = model::explore(name, o, body);
    EXPECT_TRUE(r.failed);
    EXPECT_NE(r.message.find("deadlock"), std::string::npos) << r;
}

// -- one that polls alone, and its senders

void take_all(place& p) {
    while (!p.has_all()) {
        if (p.poll()) continue;
        p.bell().arm();         // E1
        if (p.poll()) continue; // E2
        p.sleep();              // E3
    }
}

void take_all_without_a_second_poll(place& p) {
    while (!p.has_all()) {
        if (p.poll()) continue;
        p.bell().arm();
        p.sleep();
    }
}

model::test_body senders_and(void (*sleeper)(place&), int* sleeps = nullptr) {
    return [=](model::test& t) {
        auto& p = t.make<place>(2U);
        for (std::size_t k = 0; k < 2; ++k) t.thread([&p, k] { p.send(k); });
        t.thread([&p, sleeper] { sleeper(p); });
        t.at_end([=, &p] {
            if (sleeps != nullptr) *sleeps += p.sleeps;
        });
    };
}

TEST(doorbell, a_message_ends_a_sleep) {
    model::result const r = model::explore("doorbell_one", exhaustive(3), [](model::test& t) {
        auto& p = t.make<place>(1U);
        t.thread([&p] { p.send(0); });
        t.thread([&p] { take_all(p); });
    });
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_TRUE(r.is_as_complete_as_asked()) << r;
}

TEST(doorbell, two_senders) {
    int sleeps = 0;
    model::result const r =
        model::explore("doorbell_two", random(60000), senders_and(&take_all, &sleeps));
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_GT(static_cast<std::size_t>(sleeps), r.executions / 20);
}

TEST(doorbell, needs_a_poll_between_arm_and_sleep) {
    expect_lost_wake_up("doorbell_one_poll", senders_and(&take_all_without_a_second_poll));
}

// What is not a message: a waker has said before what for, and the sleeper checks for it after
// it has armed.
struct waking {
    net::doorbell<machine> bell;
    model::atomic<std::uint32_t> stop{0};

    static void body(model::test& t) {
        auto& w = t.make<waking>();
        t.thread([&w] {
            w.stop.store(1, relaxed);
            w.bell.wake();
        });
        t.thread([&w] {
            for (;;) {
                w.bell.arm();
                if (w.stop.load(relaxed) != 0) return;
                w.bell.sleep(model::k_no_deadline);
            }
        });
    }
};

TEST(doorbell, a_place_that_is_woken_sees_why) {
    model::result const r = model::explore("doorbell_wake", exhaustive(3), &waking::body);
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_TRUE(r.is_as_complete_as_asked()) << r;
}

TEST(doorbell, a_deadline_ends_a_sleep) {
    model::options o = random(20000);
    o.limit.early_timeouts = 3;
    model::result const r = model::explore("doorbell_deadline", o, [](model::test& t) {
        auto& p = t.make<place>(1U);
        t.thread([&p] { p.send(0); });
        t.thread([&p] {
            p.bell().arm();
            p.sleep(1000); // and nobody need wake it
            take_all(p);
        });
    });
    EXPECT_TRUE(r.passed()) << r;
}

// -- one that sleeps, and watchers. Polls exclude each other; this is what messenger/endpoint.cpp
// does.

bool poll_unless_others_do(place& p) {
    std::unique_lock const held(p.polling(), std::try_to_lock);
    return held && p.poll();
}

void end_watch(place& p) {
    p.bell().end_watch(); // W2
    std::unique_lock const held(p.polling(), std::try_to_lock);
    if (held)
        static_cast<void>(p.poll()); // W3
    else
        p.bell().wake(); // who polls may have passed by a message already
}

void watch(place& p) {
    if (p.watchers().enter()) p.bell().begin_watch();
    static_cast<void>(poll_unless_others_do(p)); // W1
    if (p.watchers().leave()) end_watch(p);
}

void serve(place& p) {
    while (!p.has_all()) {
        if (poll_unless_others_do(p)) continue;
        p.bell().arm(); // E1
        {
            std::lock_guard const held(p.polling());
            if (p.poll()) continue; // E2
        }
        if (p.has_all()) return;
        p.sleep(); // E3
    }
}

using role = void (*)(place&);

model::test_body office(std::uint32_t messages, role service, role first, role second = nullptr,
                        int* sleeps = nullptr) {
    return [=](model::test& t) {
        auto& p = t.make<place>(messages);
        t.thread([&p, messages] {
            for (std::size_t k = 0; k < messages; ++k) p.send(k);
        });
        t.thread([&p, service] { service(p); });
        t.thread([&p, first] { first(p); });
        if (second != nullptr) t.thread([&p, second] { second(p); });
        t.at_end([=, &p] {
            if (sleeps != nullptr) *sleeps += p.sleeps;
        });
    };
}

TEST(watched_doorbell, no_message_is_left_behind) {
    int sleeps = 0;
    model::result const r =
        model::explore("watched_one", random(60000), office(1, &serve, &watch, nullptr, &sleeps));
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_GT(static_cast<std::size_t>(sleeps), r.executions / 20);
}

TEST(watched_doorbell, a_few_preemptions_exhaustively) {
    model::result const r =
        model::explore("watched_exhaustive", exhaustive(2), office(1, &serve, &watch));
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_TRUE(r.is_as_complete_as_asked()) << r;
}

TEST(watched_doorbell, two_watchers) {
    model::result const r =
        model::explore("watched_two", random(60000), office(2, &serve, &watch, &watch));
    EXPECT_TRUE(r.passed()) << r;
}

// A thread that makes room for what it sends polls, too, and watches nothing.
void poll_once(place& p) { static_cast<void>(poll_unless_others_do(p)); }

TEST(watched_doorbell, beside_one_who_only_polls) {
    model::result const r =
        model::explore("watched_polled", random(60000), office(2, &serve, &watch, &poll_once));
    EXPECT_TRUE(r.passed()) << r;
}

// -- planted errors

void watch_without_a_last_poll(place& p) {
    p.bell().begin_watch();
    static_cast<void>(poll_unless_others_do(p));
    p.bell().end_watch();
}

TEST(watched_doorbell, must_be_polled_after_a_watch) {
    expect_lost_wake_up("watched_unpolled", office(1, &serve, &watch_without_a_last_poll));
}

void end_watch_silently(place& p) {
    p.bell().begin_watch();
    p.bell().end_watch();
    static_cast<void>(poll_unless_others_do(p));
}

TEST(watched_doorbell, one_that_cannot_poll_after_a_watch_must_wake) {
    expect_lost_wake_up("watched_silent", office(2, &serve, &end_watch_silently, &poll_once));
}

// The thread that held the lock when the poll failed may have let go since.
void serve_by_a_hint_of_the_lock(place& p) {
    while (!p.has_all()) {
        if (poll_unless_others_do(p)) continue;
        p.bell().arm();
        if (poll_unless_others_do(p) || p.has_all()) continue;
        machine::pause();
        if (!p.polling().looks_held()) p.sleep();
    }
}

TEST(watched_doorbell, one_that_goes_to_sleep_must_have_polled) {
    expect_lost_wake_up("watched_by_hint",
                        office(2, &serve_by_a_hint_of_the_lock, &watch, &poll_once));
}

void end_watch_by_a_hint_of_the_lock(place& p) {
    p.bell().begin_watch();
    p.bell().end_watch();
    if (p.polling().looks_held())
        p.bell().wake();
    else
        poll_once(p);
}

// Seen free, the lock may be taken by one who loads a box before its store to the lock is visible.
TEST(watched_doorbell, one_that_ends_a_watch_must_have_polled) {
    expect_lost_wake_up("watched_ended_by_hint",
                        office(1, &serve, &end_watch_by_a_hint_of_the_lock));
}

TEST(doorbell, every_order_is_needed) {
    model::options o = random(20000);
    // The order of watch_group::leave is against 2+2W, which the model does not find.
    o.weakens = [](model::site const& s) { return s.file == "doorbell.hpp" && s.order == seq_cst; };
    auto mutants = model::weaken_each("doorbell_weakened", o, office(1, &serve, &watch));
    mutants = model::found_by_any(std::move(mutants),
                                  model::weaken_each("doorbell_weakened_wake", o, &waking::body));
    EXPECT_EQ(mutants.size(), 4U); // the fences
    EXPECT_EQ(model::survivors(mutants), "");
}

} // namespace

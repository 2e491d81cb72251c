// SPDX-License-Identifier: Apache-2.0
//
// A thread that waits for one of two descriptors, which others report at any time, also while it
// enters their lists and leaves them, and with a limit: each wait ends once, none is missed, and
// nobody looks at the frame of a thread that has gone on.
#include "io/poll_wait.hpp"
#include "sync_world.hpp"

#include <gtest/gtest.h>

#include <array>
#include <mutex>
#include <optional>

namespace {

using namespace tulle;
using enum std::memory_order;

constexpr std::uint32_t k_event = 1, k_other_event = 2;

template <class Parking> class crossing {
public:
    model::parking_world world;
    model::atomic<int> told{0}, timed_out{0};

    // Something has happened at one of the descriptors.
    void report(std::size_t which, std::uint32_t event) {
        wait::woken_chain<Parking> ended;
        {
            descriptor& d = m_descriptors[which];
            std::lock_guard const held(d.lock);
            d.has_come.store(d.has_come.load() || event == k_event);
            d.polls.end(event, ended);
        }
        ended.resume_all();
    }
    // Until one of both has been reported, or with a limit.
    void poll(bool in_time) {
        std::optional<frame> own(std::in_place); // an access after its end is an error
        bool const waits = enter(*own, 0) && enter(*own, 1);
        wait::outcome how = wait::outcome::woken;
        if (waits) how = own->waiting.wait({}, wait::limit<Parking>(in_time ? 2 : k_never));
        for (std::size_t k = 0; k < 2; ++k) leave(*own, k);
        own.reset();
        if (how == wait::outcome::woken)
            model::check(has_come(0) || has_come(1), "it is told of what has happened");
        (how == wait::outcome::woken ? told : timed_out).fetch_add(1, relaxed);
    }
    [[nodiscard]] bool has_come(std::size_t which) {
        std::lock_guard const held(m_descriptors[which].lock);
        return m_descriptors[which].has_come.load();
    }

private:
    static constexpr std::uint64_t k_never = detail::k_no_deadline;

    struct descriptor {
        base::basic_spin_lock<model::machine> lock;
        io::poll_list<Parking> polls;
        model::plain<bool> has_come{false};
    };
    struct frame {
        io::poll_wait<Parking> waiting;
        std::array<io::poll_branch<Parking>, 2> branches;
        std::array<bool, 2> is_in{};
    };

    bool enter(frame& own, std::size_t which) {
        descriptor& d = m_descriptors[which];
        std::lock_guard const held(d.lock);
        if (d.has_come.load()) return false;
        own.branches[which].of = &own.waiting;
        own.branches[which].events = k_event;
        d.polls.add(own.branches[which]);
        own.is_in[which] = true;
        return true;
    }
    void leave(frame& own, std::size_t which) {
        if (!own.is_in[which]) return;
        std::lock_guard const held(m_descriptors[which].lock);
        m_descriptors[which].polls.remove(own.branches[which]);
    }

    std::array<descriptor, 2> m_descriptors;
};

model::options random(std::size_t executions) {
    return model::without_heavy_fence(model::random(executions));
}

TEST(poll_wait, both_are_reported_to_two_threads) {
    int parks = 0;
    model::result const r = model::explore("poll_both", random(60000), [&parks](model::test& t) {
        auto& c = t.make<crossing<model::parking>>();
        for (std::size_t k = 0; k < 2; ++k) t.thread([&c, k] { c.report(k, k_event); });
        for (int i = 0; i < 2; ++i) t.thread([&c] { c.poll(false); });
        t.at_end([&c, &parks] {
            model::check(c.told.load(relaxed) == 2, "both have gone on");
            parks += c.world.parks;
        });
    });
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_GT(parks, 1000);
}

TEST(poll_wait, each_order_of_two_reports_and_one_thread) {
    model::options const o = model::without_heavy_fence(model::exhaustive(2, 400000));
    model::result const r = model::explore("poll_exhaustive", o, [](model::test& t) {
        auto& c = t.make<crossing<model::parking>>();
        for (std::size_t k = 0; k < 2; ++k) t.thread([&c, k] { c.report(k, k_event); });
        t.thread([&c] { c.poll(false); });
        t.at_end([&c] { model::check(c.told.load(relaxed) == 1, "it has gone on"); });
    });
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_TRUE(r.is_as_complete_as_asked()) << r;
}

// What has not been asked for ends no wait: without the limit it would last for ever.
TEST(poll_wait, a_limit_races_with_reports) {
    int told = 0, timed_out = 0;
    model::result const r = model::explore("poll_timed", random(60000), [&](model::test& t) {
        auto& c = t.make<crossing<model::parking>>();
        t.thread([&c] { c.report(0, k_other_event); });
        t.thread([&c] { c.report(1, k_event); });
        t.thread([&c] { c.poll(true); });
        t.thread([&c] { c.world.time_passes(); });
        t.at_end([&] {
            told += c.told.load(relaxed);
            timed_out += c.timed_out.load(relaxed);
        });
    });
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_GT(static_cast<std::size_t>(told), r.executions / 60);
    EXPECT_GT(static_cast<std::size_t>(timed_out), r.executions / 60);
}

TEST(poll_wait, ends_while_the_thread_is_suspended_elsewhere) {
    model::result const r = model::explore("poll_elsewhere", random(60000), [](model::test& t) {
        auto& c = t.make<crossing<model::parking_elsewhere>>();
        for (std::size_t k = 0; k < 2; ++k) t.thread([&c, k] { c.report(k, k_event); });
        t.thread([&c] {
            c.poll(true);
            c.world.end_suspending();
        });
        t.thread([&c] { c.world.run_posts(1); });
        t.thread([&c] { c.world.time_passes(); });
    });
    EXPECT_TRUE(r.passed()) << r;
}

} // namespace

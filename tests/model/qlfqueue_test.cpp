// SPDX-License-Identifier: Apache-2.0
//
// The list under qlfqueue: each element comes out once and in order, and nobody looks at a segment
// that has been freed. A segment that is freed is destroyed, which is an error while others may
// still access it; its memory stays until the end of the execution. With one place in a segment
// each element takes another one, so that few steps show the orders of the list.
#include "base/sanitize.hpp"
#include "compat/qthread/structures/fifo_core.hpp"
#include "explorer/explore.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace tulle;

using record = compat::basic_hazard_record<model::machine>;

// What an element points to.
struct content {
    model::machine::plain<std::size_t> number{0};
};

template <std::size_t Places> struct queue_of {
    using core = compat::fifo_core<model::machine, Places>;
    using segment = typename core::segment;
    struct alignas(segment) segment_memory : std::array<std::byte, sizeof(segment)> {};

    static constexpr std::size_t k_most = 6; // elements
    std::array<segment_memory, k_most> memory;
    std::array<content, k_most> contents;
    core list{make(0)};
    compat::basic_hazard_domain<model::machine> domain;
    std::array<std::optional<record>, 3> records; // one for each thread
    std::array<std::size_t, k_most> taken{};      // by whom, from 1

    explicit queue_of(std::size_t known = 3) {
        for (std::size_t k = 0; k != known; ++k) join(k);
    }
    void join(std::size_t thread) { domain.add(records[thread].emplace(domain, 1U)); }
    segment* make(std::size_t k) { return new (memory[k].data()) segment; }
    static void free(void* s) { std::destroy_at(static_cast<segment*>(s)); }
    // Segment k is for element k, if that needs one.
    void put(std::size_t thread, std::size_t k) {
        contents[k].number.store(k);
        segment* spare = nullptr;
        if (list.append(*records[thread], &contents[k], spare)) return;
        spare = make(k);
        model::check(list.append(*records[thread], &contents[k], spare), "there is a spare");
        if (spare != nullptr) free(spare);
    }
    // 0: there was none.
    std::size_t take(std::size_t thread) {
        auto* const found = static_cast<content*>(list.take_first(*records[thread], &free));
        if (found == nullptr) return 0;
        std::size_t const k = found->number.load();
        model::check(k != 0 && k < k_most && found == &contents[k], "what comes out was put in");
        model::check(taken[k] == 0, "nothing comes out twice");
        taken[k] = thread + 1;
        return k;
    }
    void check_nothing_is_lost(std::size_t last) {
        while (take(0) != 0) {}
        for (std::size_t k = 1; k <= last; ++k) model::check(taken[k] != 0, "nothing is lost");
    }
};

using queue = queue_of<1>;

std::size_t sample(std::size_t executions) {
    return base::k_thread_sanitizer ? executions / 10 : executions;
}

// One puts two, one puts one and takes, one takes twice.
template <class Queue = queue> model::test_body mixed(int* both = nullptr) {
    return [=](model::test& t) {
        auto& q = t.make<Queue>();
        t.thread([&q] {
            q.put(0, 1);
            q.put(0, 2);
        });
        t.thread([&q] {
            q.put(1, 3);
            static_cast<void>(q.take(1));
        });
        t.thread([&q] {
            std::size_t const first = q.take(2);
            std::size_t const second = q.take(2);
            model::check(first != 2 || second != 1, "elements of one thread come in order");
        });
        t.at_end([&q, both] {
            q.check_nothing_is_lost(3);
            model::check(q.list.is_empty(*q.records[0]), "it is empty in the end");
            if (both != nullptr && q.taken[1] == 3 && q.taken[2] == 3) ++*both;
        });
    };
}

// The queue is filled before two threads take.
model::test_body takers() {
    return [](model::test& t) {
        auto& q = t.make<queue>();
        for (std::size_t k = 1; k != 4; ++k) q.put(0, k);
        for (std::size_t thread = 1; thread != 3; ++thread) {
            t.thread([&q, thread] {
                std::size_t const first = q.take(thread);
                std::size_t const second = q.take(thread);
                model::check(first != 0 && (second == 0 || second > first),
                             "in order, and nothing is empty before its time");
            });
        }
        t.at_end([&q] { q.check_nothing_is_lost(3); });
    };
}

// As few steps as show each order. One takes, and only then shows its hazards to the others; the
// other puts and takes.
model::test_body late_reader() {
    return [](model::test& t) {
        auto& q = t.make<queue>(2U);
        q.put(0, 1);
        t.thread([&q] {
            q.join(2);
            static_cast<void>(q.take(2));
        });
        t.thread([&q] {
            q.put(1, 2);
            static_cast<void>(q.take(1));
            static_cast<void>(q.take(1)); // gives up the first segment
        });
        t.at_end([&q] { q.check_nothing_is_lost(2); });
    };
}

// One has the former tail in its hands while others go on.
model::test_body late_writer() {
    return [](model::test& t) {
        auto& q = t.make<queue>();
        t.thread([&q] { q.put(0, 1); });
        t.thread([&q] { q.put(1, 2); });
        t.thread([&q] { static_cast<void>(q.take(2)); });
        t.at_end([&q] { q.check_nothing_is_lost(2); });
    };
}

// It is never empty, as one puts before it takes: another one looks, or takes.
model::test_body never_empty(bool takes) {
    return [takes](model::test& t) {
        auto& q = t.make<queue_of<2>>(2U);
        q.put(0, 1);
        t.thread([&q] {
            q.put(0, 2);
            static_cast<void>(q.take(0));
            q.put(0, 3);
            static_cast<void>(q.take(0));
        });
        t.thread([&q, takes] {
            bool const found = takes ? q.take(1) != 0 : !q.list.is_empty(*q.records[1]);
            model::check(found, "there is always an element");
        });
        t.at_end([&q] { q.check_nothing_is_lost(3); });
    };
}

TEST(qlfqueue, puts_and_takes) {
    model::options const o = model::random(sample(30000));
    int both = 0;
    model::result const r = model::explore("qlfqueue_mixed", o, mixed(&both));
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_GT(both, 10) << "one thread takes what the other has put";
}

TEST(qlfqueue, two_takers) {
    model::options const o = model::exhaustive(2, sample(40000));
    model::result const r = model::explore("qlfqueue_takers", o, takers());
    EXPECT_TRUE(r.passed()) << r;
}

TEST(qlfqueue, several_places_in_a_segment) {
    model::options o;
    o.executions = sample(30000);
    model::result const r = model::explore("qlfqueue_places", o, mixed<queue_of<2>>());
    EXPECT_TRUE(r.passed()) << r;
}

TEST(qlfqueue, is_never_found_empty_before_its_time) {
    model::options o;
    o.executions = sample(30000);
    for (bool const takes : {false, true}) {
        model::result const r = model::explore("qlfqueue_never_empty", o, never_empty(takes));
        EXPECT_TRUE(r.passed()) << r;
    }
}

// A segment that is freed at once, without a look for announcements.
TEST(qlfqueue, hazards_are_needed) {
    model::options o = model::random(sample(30000));
    o.expect_failure = true;
    model::result const r = model::explore("qlfqueue_no_hazards", o, [](model::test& t) {
        auto& q = t.make<queue>();
        for (std::size_t k = 1; k != 4; ++k) q.put(0, k);
        for (std::size_t thread = 1; thread != 3; ++thread) {
            t.thread([&q, thread] {
                compat::basic_hazard_domain<model::machine> unseen;
                record blind(unseen, 1U); // nobody knows what it announces
                static_cast<void>(q.list.take_first(blind, &queue::free));
                static_cast<void>(q.list.take_first(blind, &queue::free));
            });
        }
    });
    EXPECT_FALSE(r.passed());
}

// Of the weakened orders those that no body misses; one per line.
std::string survivors_of_all(model::options const& o, std::vector<model::test_body> const& bodies) {
    std::map<std::string, std::size_t> survived;
    for (auto const& body : bodies) {
        std::istringstream lines(
            model::survivors(model::weaken_each("qlfqueue_weakened", o, body)));
        for (std::string line; std::getline(lines, line);) ++survived[line];
    }
    std::string all;
    for (auto const& [line, times] : survived)
        if (times == bodies.size()) all += line + "\n";
    return all;
}

TEST(qlfqueue, every_order_is_needed) {
    model::options const o = model::random(4000);
    if (base::k_thread_sanitizer)
        GTEST_SKIP() << "minutes, in which ThreadSanitizer sees one thread only";
    EXPECT_EQ(survivors_of_all(o, {mixed(), late_reader(), late_writer(), never_empty(false),
                                   never_empty(true)}),
              "");
    EXPECT_NE(survivors_of_all(o, {late_writer()}), "") << "the others are needed, too";
}

} // namespace

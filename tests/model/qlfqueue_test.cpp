// SPDX-License-Identifier: Apache-2.0
//
// The list under qlfqueue: each element comes out once and in order, and nobody looks at a node
// that has been freed. A node that is freed is destroyed, which is an error while others may still
// access it; its memory stays until the end of the execution.
#include "base/sanitize.hpp"
#include "compat/qthread/fifo_core.hpp"
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

using node = compat::fifo_node<model::machine>;
using record = compat::basic_hazard_record<model::machine>;

void* element(std::size_t k) { return reinterpret_cast<void*>(k); }
std::size_t number(void const* elem) { return reinterpret_cast<std::size_t>(elem); }

void free_node(void* n) { std::destroy_at(static_cast<node*>(n)); }

struct queue {
    struct alignas(node) node_memory : std::array<std::byte, sizeof(node)> {};
    std::array<node_memory, 6> memory;
    compat::fifo_core<model::machine> list{make(0)};
    compat::basic_hazard_domain<model::machine> domain;
    std::array<std::optional<record>, 3> records; // one for each thread
    std::array<std::size_t, 6> taken{};           // by whom, from 1

    explicit queue(std::size_t known = 3) {
        for (std::size_t k = 0; k != known; ++k) join(k);
    }
    void join(std::size_t thread) { domain.add(records[thread].emplace(domain, 1U)); }
    node* make(std::size_t k) { return new (memory[k].data()) node; }
    void put(std::size_t thread, std::size_t k) {
        node* const fresh = make(k);
        fresh->value.store(element(k));
        list.append(*records[thread], fresh);
    }
    // 0: there was none.
    std::size_t take(std::size_t thread) {
        void* value = nullptr;
        node* const former = list.take_first(*records[thread], value);
        if (former == nullptr) return 0;
        records[thread]->retire(former, free_node);
        std::size_t const k = number(value);
        model::check(k != 0 && k < memory.size(), "what comes out was put in");
        model::check(taken[k] == 0, "nothing comes out twice");
        taken[k] = thread + 1;
        return k;
    }
    void check_nothing_is_lost(std::size_t last) {
        while (take(0) != 0) {}
        for (std::size_t k = 1; k <= last; ++k) model::check(taken[k] != 0, "nothing is lost");
    }
};

std::size_t sample(std::size_t executions) {
    return base::k_thread_sanitizer ? executions / 10 : executions;
}

// One puts two, one puts one and takes, one takes twice.
model::test_body mixed(int* both = nullptr) {
    return [=](model::test& t) {
        auto& q = t.make<queue>();
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

// A node that is freed at once, without a look for announcements.
TEST(qlfqueue, hazards_are_needed) {
    model::options o = model::random(sample(30000));
    o.expect_failure = true;
    model::result const r = model::explore("qlfqueue_no_hazards", o, [](model::test& t) {
        auto& q = t.make<queue>();
        for (std::size_t k = 1; k != 4; ++k) q.put(0, k);
        for (std::size_t thread = 1; thread != 3; ++thread) {
            t.thread([&q, thread] {
                void* value = nullptr;
                if (node* const former = q.list.take_first(*q.records[thread], value))
                    free_node(former);
                if (node* const former = q.list.take_first(*q.records[thread], value))
                    free_node(former);
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
    EXPECT_EQ(survivors_of_all(o, {mixed(), late_reader(), late_writer()}), "");
    EXPECT_NE(survivors_of_all(o, {late_writer()}), "") << "the others are needed, too";
}

} // namespace

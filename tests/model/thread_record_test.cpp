// SPDX-License-Identifier: Apache-2.0
//
// The life of a thread with a record of its own: it is run once, by the worker that takes it or by
// its joiner; its result reaches the joiner, whoever ran it; and the last of those who have the
// record, which are its runner, its handle and the queue, frees it after all else. And what an OS
// thread of the program's own needs for a join: a word to sleep in, and the list of workers.
#include "explorer/explore.hpp"
#include "park/resume_word.hpp"
#include "sched/growing_list.hpp"
#include "sched/records/join_word.hpp"

#include <tulle/detail/reference_count.hpp>

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string_view>

namespace {

using namespace tulle;
using enum std::memory_order;
using machine = model::machine;

model::options exhaustive() { return model::exhaustive(2, 100000); }

void expect_holds(std::string_view name, model::test_body const& body) {
    model::result const r = model::explore(name, exhaustive(), body);
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_TRUE(r.is_as_complete_as_asked()) << r;
}
void expect_needed(std::string_view name, model::test_body const& body, std::string_view file,
                   std::size_t count) {
    auto mutants = model::weaken_each(name, exhaustive(), body);
    std::erase_if(mutants, [file](model::mutant const& m) { return m.change.where.file != file; });
    EXPECT_EQ(mutants.size(), count);
    EXPECT_EQ(model::survivors(mutants), "");
}

// -- a spawned thread, taken from a queue, joined or released

struct record {
    model::plain<int> body{0};
    model::plain<int> result{0};
    model::atomic<std::uintptr_t> word{detail::k_running};
    model::atomic<bool> claimed{false};
    model::atomic<std::uint32_t> references{2};
};

enum class end_of_handle {
    joined,
    released,
    run_or_released // whoever spawned it runs it, or leaves it to the worker that does
};

struct spawned {
    std::optional<record> thread;
    model::atomic<record*> queue{nullptr};

    // An access after the end of the record is an error, and one before that it has not seen.
    void drop(record& t) {
        if (detail::drop_reference(t.references)) thread.reset();
    }
    void drop_both(record& t) {
        if (sched::drop_both_references(t.references)) thread.reset();
    }
    // By the claimer.
    void run(record& t) {
        model::check(t.body.load() == 3, "what the spawner wrote is there");
        t.result.store(4);
        if (sched::join_word(t.word).finish() == sched::k_abandoned) drop_both(t);
    }
    void work() {
        while (queue.load(relaxed) == nullptr) machine::pause();
        record& t = *queue.load(acquire);              // pairs with spawn_and_join
        if (!detail::claim(t.claimed)) return drop(t); // the queue's
        run(t);
    }
    void spawn(end_of_handle way) {
        record& t = thread.emplace();
        t.body.store(3);
        queue.store(&t, release); // pairs with work
        if (way != end_of_handle::released && detail::claim(t.claimed)) {
            detail::add_reference(t.references); // the other one is the queue's
            run(t);
        }
        if (way == end_of_handle::joined) {
            while (!sched::join_word(t.word).is_done()) machine::pause();
            model::check(t.result.load() == 4, "what the thread did is there");
        } else {
            model::check(t.body.load() == 3, "the handle has the record");
        }
        if (!sched::join_word(t.word).abandon()) drop_both(t);
    }
};

template <end_of_handle way> void spawned_body(model::test& t) {
    auto& s = t.make<spawned>();
    t.thread([&s] { s.spawn(way); });
    t.thread([&s] { s.work(); });
    t.at_end([&s] { model::check(!s.thread.has_value(), "the record is freed"); });
}

TEST(thread_record, is_run_once_and_freed_last) {
    expect_holds("thread_joined", &spawned_body<end_of_handle::joined>);
    expect_holds("thread_released", &spawned_body<end_of_handle::released>);
    expect_holds("thread_run_or_released", &spawned_body<end_of_handle::run_or_released>);
}

TEST(thread_record, every_order_is_needed) {
    constexpr auto body = &spawned_body<end_of_handle::run_or_released>;
    expect_needed("thread_counts_weakened", body, "reference_count.hpp", 3);
    expect_needed("thread_word_weakened", body, "join_word.hpp", 7);
}

// -- a guest that waits, twice

struct guest {
    park::resume_word<machine> wake;
    model::atomic<int> published{0};
    model::plain<int> news{0};

    void wait_twice() {
        for (int k = 1; k <= 2; ++k) {
            published.store(k, release); // pairs with resume_twice
            while (!wake.is_resumed()) static_cast<void>(wake.sleep(model::k_no_deadline));
            model::check(news.load() == k, "what the waker did is there");
            wake.reset();
        }
    }
    void resume_twice() {
        for (int k = 1; k <= 2; ++k) {
            while (published.load(acquire) != k) machine::pause(); // pairs with wait_twice
            news.store(k);
            wake.resume();
        }
    }
    static void body(model::test& t) {
        auto& g = t.make<guest>();
        t.thread([&g] { g.wait_twice(); });
        t.thread([&g] { g.resume_twice(); });
    }
};

TEST(resume_word, no_resumption_is_lost) { expect_holds("guest", &guest::body); }
TEST(resume_word, every_order_is_needed) {
    expect_needed("guest_weakened", &guest::body, "resume_word.hpp", 2);
}

// -- workers that come while others visit them

struct item {
    model::plain<int> content{0};
};

struct crowd {
    crowd() { list.reserve(2); }

    std::array<item, 2> items;
    sched::growing_list<item*, machine> list;

    void add() {
        for (item& i : items) {
            i.content.store(5);
            list.push_back(&i);
        }
    }
    void visit() {
        for (item* const i : list)
            model::check(i->content.load() == 5, "what is in the list is made");
    }
    static void body(model::test& t) {
        auto& c = t.make<crowd>();
        t.thread([&c] { c.add(); });
        t.thread([&c] { c.visit(); });
        t.thread([&c] { c.visit(); });
        t.at_end([&c] { model::check(c.list.size() == 2, "both are in the list"); });
    }
};

TEST(growing_list, what_is_found_is_made) { expect_holds("growing_list", &crowd::body); }
TEST(growing_list, every_order_is_needed) {
    expect_needed("growing_list_weakened", &crowd::body, "growing_list.hpp", 2);
}

// -- an OS thread that sleeps until a deadline, which others bring forward (park/resume_word.hpp)

struct deadline_watcher {
    park::resume_word<machine> wake;
    model::atomic<std::uint64_t> deadline{model::k_no_deadline};
};

model::test_body deadline_body() {
    return [](model::test& t) {
        auto& d = t.make<deadline_watcher>();
        t.thread([&d] {
            d.wake.watch();
            for (bool is_over = false; !is_over;) {
                d.wake.begin_reading();
                bool const is_near = d.deadline.load(relaxed) == 1; // the other one takes for ever
                is_over = !d.wake.sleep_watching(is_near ? 1 : model::k_no_deadline);
            }
            d.wake.reset();
        });
        for (std::uint64_t const when : {2U, 1U})
            t.thread([&d, when] {
                std::uint64_t seen = d.deadline.load(relaxed);
                while (when < seen &&
                       !d.deadline.compare_exchange_weak(seen, when, relaxed, relaxed)) {}
                d.wake.tell();
            });
    };
}

TEST(resume_word, a_waiter_that_watches_is_told_of_an_earlier_deadline) {
    model::result const r = model::explore("resume_deadline", exhaustive(), deadline_body());
    EXPECT_TRUE(r.passed()) << r;
}

TEST(resume_word, every_order_of_watching_is_needed) {
    model::options o = model::random(20000);
    o.weakens = [](model::site const& s) { return s.file == "resume_word.hpp"; };
    auto const mutants = model::weaken_each("resume_deadline_weakened", o, deadline_body());
    EXPECT_GE(mutants.size(), 1U);
    EXPECT_EQ(model::survivors(mutants), "");
}

} // namespace

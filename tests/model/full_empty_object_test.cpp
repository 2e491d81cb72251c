// SPDX-License-Identifier: Apache-2.0
//
// The full/empty object: its word of state, its readers without the lock, and its queue.
#include "base/sanitize.hpp"
#include "sync/full_empty_object.hpp"
#include "sync_world.hpp"
#include "value_cell.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

namespace {

using namespace tulle;
using enum std::memory_order;
using op = tulle::detail::feb_operation;
using front_type = tulle::detail::basic_full_empty_front<model::machine>;

using cell = model::value_cell;
using home = sync::object_home<model::parking, cell>;

// As full_empty<T> is, with a word as its value.
struct object {
    front_type front;
    model::atomic<std::uint64_t> value;

    [[nodiscard]] std::uint64_t read_ff() {
        std::uint64_t v = 0;
        if (front.read_unlocked([&] { v = cell(value).load(); })) return v;
        static_cast<void>(apply(op::read_ff, v));
        return v;
    }
    [[nodiscard]] std::uint64_t read_fe() {
        std::uint64_t v = 0;
        if (front.looks_empty()) {
            wait(op::read_fe, v);
            return v;
        }
        auto const before = front.lock();
        if (!front_type::is_full(before)) {
            static_cast<void>(apply_locked(before, op::read_fe, v, ~std::uint64_t{0}));
            return v;
        }
        v = cell(value).load();
        front.unlock(front_type::emptied(before));
        return v;
    }
    void write_ef(std::uint64_t v) {
        if (front.looks_full()) return wait(op::write_ef, v);
        auto const before = front.lock();
        if (!front_type::is_empty(before))
            return static_cast<void>(apply_locked(before, op::write_ef, v, ~std::uint64_t{0}));
        cell(value).store(v);
        front.unlock(front_type::filled(before));
    }
    bool apply(op what, std::uint64_t& v, std::uint64_t deadline = ~std::uint64_t{0}) {
        return apply_locked(front.lock(), what, v, deadline);
    }
    void wait(op what, std::uint64_t& v) {
        home h(front, cell(value));
        sync::word_wait<model::parking, home> waiting(h, &front);
        model::check(waiting.wait(what, &v, ~std::uint64_t{0}) == sync::word_result::done,
                     "it waits as long as it takes");
    }
    bool apply_locked(front_type::value before, op what, std::uint64_t& v, std::uint64_t deadline) {
        home h(front, cell(value));
        h.adopt_lock(before);
        return sync::word_wait<model::parking, home>(h, &front).perform_locked(
                   what, &v, deadline) == sync::word_result::done;
    }
};

struct history {
    model::parking_world world;
    object counter, baton;
    std::array<model::plain<int>, 8> notes;
    model::plain<int> before_emptying{0};
    model::atomic<int> given_up{0};

    history() {
        std::uint64_t zero = 0;
        static_cast<void>(counter.apply(op::write_f, zero));
        static_cast<void>(baton.apply(op::write_f, zero));
    }
    void increment() {
        std::uint64_t const v = counter.read_fe();
        model::check(v < 3, "a number that somebody has counted to");
        notes[v + 1].store(static_cast<int>(v) + 1);
        std::uint64_t nonsense = 99;
        static_cast<void>(counter.apply(op::purge, nonsense));
        counter.write_ef(v + 1);
    }
    void watch(int times) {
        std::uint64_t last = 0;
        for (int i = 0; i < times; ++i) {
            std::uint64_t const v = counter.read_ff();
            model::check(v != 99, "it was full when it was read");
            model::check(v >= last, "time does not run backwards");
            if (v != 0)
                model::check(notes[v].load() == static_cast<int>(v),
                             "what the writer did comes with the value");
            last = v;
        }
    }
    void take_in_time() {
        std::uint64_t v = 0;
        if (counter.apply(op::read_fe, v, 2))
            counter.write_ef(v);
        else
            given_up.fetch_add(1, relaxed);
    }
    void empty_baton() {
        before_emptying.store(1);
        std::uint64_t ignored = 0;
        static_cast<void>(baton.apply(op::empty, ignored));
    }
    void fill_baton() {
        baton.write_ef(1);
        model::check(before_emptying.load() == 1,
                     "what came before the emptying comes before the filling");
    }
};

model::options random(std::size_t executions) {
    return model::without_heavy_fence(model::random(executions));
}

model::test_body body(int writers, int readers, int timed, int* parks = nullptr,
                      int* given_up = nullptr) {
    return [=](model::test& t) {
        auto& h = t.make<history>();
        for (int i = 0; i < writers; ++i) t.thread([&h] { h.increment(); });
        for (int i = 0; i < readers; ++i) t.thread([&h] { h.watch(2); });
        for (int i = 0; i < timed; ++i) t.thread([&h] { h.take_in_time(); });
        if (timed > 0) t.thread([&h] { h.world.time_passes(); });
        t.at_end([=, &h] {
            model::check(h.counter.value.load(relaxed) == static_cast<std::uint64_t>(writers),
                         "no increment is lost");
            model::check(front_type::is_full(h.counter.front.state.load(relaxed)),
                         "it is full, and nobody waits");
            if (parks != nullptr) *parks += h.world.parks;
            if (given_up != nullptr) *given_up += h.given_up.load(relaxed);
        });
    };
}

TEST(full_empty_object, readers_and_writers) {
    model::options const o =
        model::without_heavy_fence(model::exhaustive(3, base::k_thread_sanitizer ? 4000 : 60000));
    model::result const two = model::explore("object_two", o, body(1, 1, 0));
    EXPECT_TRUE(two.passed()) << two;
    int parks = 0;
    model::result const more = model::explore("object_more", random(30000), body(2, 2, 0, &parks));
    EXPECT_TRUE(more.passed()) << more;
    EXPECT_GT(static_cast<std::size_t>(parks), more.executions / 30);
}

TEST(full_empty_object, time_outs) {
    int given_up = 0;
    model::result const r =
        model::explore("object_timed", random(30000), body(2, 1, 2, nullptr, &given_up));
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_GT(static_cast<std::size_t>(given_up), r.executions / 300);
}

TEST(full_empty_object, every_order_is_needed) {
    auto const mutants = model::weaken_each("object_weakened", random(30000), [](model::test& t) {
        auto& h = t.make<history>();
        t.thread([&h] {
            h.increment();
            h.empty_baton();
        });
        t.thread([&h] {
            h.increment();
            h.fill_baton();
        });
        t.thread([&h] { h.watch(2); });
    });
    EXPECT_GE(mutants.size(), 4U);
    EXPECT_EQ(model::survivors_in_code(mutants), "");
}

} // namespace

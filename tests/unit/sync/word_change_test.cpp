// SPDX-License-Identifier: Apache-2.0
//
// The table of src/sync/full_empty.md, exhaustively: each operation in each state, with up to
// three threads that wait in each order, beside a sequential model. For words of all sizes and for
// objects.
#include "full_empty_faces.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;

enum class call { read_ff, read_fe, write_ff, write_ef, write_f, fill, empty, purge };
constexpr std::array k_calls{call::read_ff, call::read_fe, call::write_ff, call::write_ef,
                             call::write_f, call::fill,    call::empty,    call::purge};

// What a call came to: a reader's value, or 1.
struct answer {
    bool done = false;
    int value = 0;
    friend bool operator==(answer const&, answer const&) = default;
    friend std::ostream& operator<<(std::ostream& out, answer const& a) {
        return out << (a.done ? "done " : "waits ") << a.value;
    }
};

class model {
public:
    model(bool is_full, int start) : m_full(is_full), m_value(start) {}

    answer apply(call what, int v) {
        bool const needs_full =
            what == call::read_ff || what == call::read_fe || what == call::write_ff;
        if ((needs_full && !m_full) || (what == call::write_ef && m_full)) return {};
        int const seen = m_value;
        bool const writes = what == call::write_ff || what == call::write_ef ||
                            what == call::write_f || what == call::purge;
        if (writes) m_value = v;
        bool const was_full = m_full;
        if (what == call::write_ef || what == call::write_f || what == call::fill) m_full = true;
        if (what == call::read_fe || what == call::empty || what == call::purge) m_full = false;
        if (m_full != was_full) serve();
        return {true, what == call::read_ff || what == call::read_fe ? seen : 1};
    }
    void wait(call what, int v, answer& result) { m_waiting.push_back({what, v, &result}); }
    [[nodiscard]] std::size_t waiting() const { return m_waiting.size(); }
    [[nodiscard]] bool is_full() const { return m_full; }
    [[nodiscard]] int value() const { return m_value; }

private:
    struct waiter {
        call what;
        int value;
        answer* result;
    };
    // All that can go on does, readers first.
    void serve() {
        if (m_full) {
            std::erase_if(m_waiting, [this](waiter const& w) {
                if (w.what != call::read_ff) return false;
                *w.result = {true, m_value};
                return true;
            });
        }
        while (!m_waiting.empty()) {
            waiter const w = m_waiting.front();
            if ((w.what == call::write_ef) == m_full) return;
            m_waiting.pop_front();
            *w.result = {true, w.what == call::read_fe ? m_value : 1};
            if (w.what == call::read_fe) m_full = false;
            if (w.what == call::write_ef) m_full = true;
            if (w.what != call::read_fe) m_value = w.value;
            if (w.what == call::read_fe) return;
        }
    }

    bool m_full;
    int m_value;
    std::deque<waiter> m_waiting;
};

template <class Face> answer wait_for(Face& f, call what, int v) {
    switch (what) {
        case call::read_ff: return {true, f.read_ff()};
        case call::read_fe: return {true, f.read_fe()};
        case call::write_ff: f.write_ff(v); break;
        default: f.write_ef(v);
    }
    return {true, 1};
}

answer from(std::optional<int> v) { return v ? answer{true, *v} : answer{}; }
answer from(bool done) { return done ? answer{true, 1} : answer{}; }

template <class Face> answer attempt(Face& f, call what, int v) {
    switch (what) {
        case call::read_ff: return from(f.try_read_ff());
        case call::read_fe: return from(f.try_read_fe());
        case call::write_ff: return from(f.try_write_ff(v));
        case call::write_ef: return from(f.try_write_ef(v));
        case call::write_f: f.write_f(v); break;
        case call::fill: f.fill(); break;
        case call::empty: f.empty(); break;
        case call::purge: f.purge(v); break;
    }
    return {true, 1};
}

// Each wait with and without a deadline that is far away.
template <class Face> answer wait_patiently(Face& f, call what, int v) {
    switch (what) {
        case call::read_ff: return from(f.try_read_ff_for(1h));
        case call::read_fe: return from(f.try_read_fe_until(std::chrono::steady_clock::now() + 1h));
        case call::write_ff: return from(f.try_write_ff_for(v, 1h));
        default: return from(f.try_write_ef_until(v, std::chrono::steady_clock::now() + 1h));
    }
}

template <class Face> class scenario {
public:
    scenario(bool full, std::vector<call> const& waiters, bool timed)
        : m_real(1),
          m_model(full, 1),
          m_waiters(waiters),
          m_got(waiters.size()),
          m_want(waiters.size()) {
        if (!full) m_real.empty();
        for (std::size_t k = 0; k < m_waiters.size(); ++k) start(k, timed && k % 2 == 0);
    }
    void apply(call what) {
        ASSERT_EQ(attempt(m_real, what, 2), m_model.apply(what, 2)) << describe(what);
        ASSERT_EQ(m_real.waiting(), m_model.waiting()) << describe(what);
        ASSERT_EQ(m_real.is_full(), m_model.is_full()) << describe(what);
        if (m_model.is_full()) {
            ASSERT_EQ(m_real.read_xx(), m_model.value()) << describe(what);
        }
        finish();
        ASSERT_EQ(m_got, m_want) << describe(what);
    }

private:
    void start(std::size_t k, bool timed) {
        int const v = 10 + static_cast<int>(k);
        m_model.wait(m_waiters[k], v, m_want[k]);
        m_threads.push_back(tulle::spawn([this, k, v, timed] {
            m_got[k] =
                timed ? wait_patiently(m_real, m_waiters[k], v) : wait_for(m_real, m_waiters[k], v);
        }));
        while (m_real.waiting() <= k) tulle::this_thread::yield();
    }
    // Lets everybody go on, one step at a time.
    void finish() {
        for (int v = 100; m_model.waiting() != 0; ++v) {
            call const next = m_model.is_full() ? call::read_fe : call::write_ef;
            ASSERT_EQ(attempt(m_real, next, v), m_model.apply(next, v));
        }
        for (auto& t : m_threads) t.join();
        m_threads.clear();
    }
    std::string describe(call what) const {
        std::string text = "operation " + std::to_string(static_cast<int>(what)) + ", waiters";
        for (call const w : m_waiters) text.append(" ").append(std::to_string(static_cast<int>(w)));
        return text;
    }

    Face m_real;
    model m_model;
    std::vector<call> m_waiters;
    std::vector<answer> m_got, m_want;
    std::vector<tulle::thread<void>> m_threads;
};

// All sequences of up to `length` of `which`.
std::vector<std::vector<call>> sequences(std::vector<call> const& which, std::size_t length) {
    std::vector<std::vector<call>> all{{}};
    for (std::size_t from = 0; length > 0; --length) {
        std::size_t const to = all.size();
        for (; from < to; ++from)
            for (call const c : which) {
                all.push_back(all[from]);
                all.back().push_back(c);
            }
    }
    return all;
}

template <class Face> class full_empty_semantics : public ::testing::Test {};
using faces =
    ::testing::Types<word_face<std::uint8_t>, word_face<std::uint16_t>, word_face<std::uint32_t>,
                     word_face<std::uint64_t>, word_face<double>, object_face<plain_value>,
                     object_face<large_value>, object_face<shared_value>>;
TYPED_TEST_SUITE(full_empty_semantics, faces);

TYPED_TEST(full_empty_semantics, every_operation_in_every_state) {
    for (bool const timed : {false, true})
        for (bool const full : {false, true}) {
            auto const waiting = full
                                     ? sequences({call::write_ef}, 3)
                                     : sequences({call::read_ff, call::read_fe, call::write_ff}, 3);
            for (auto const& waiters : waiting)
                for (call const what : k_calls) {
                    scenario<TypeParam> s(full, waiters, timed);
                    s.apply(what);
                    ASSERT_FALSE(this->HasFatalFailure());
                }
        }
}

TYPED_TEST(full_empty_semantics, time_outs_leave_things_as_they_were) {
    TypeParam f(3);
    EXPECT_FALSE(f.try_write_ef_for(4, 1ms));
    EXPECT_FALSE(f.try_write_ef_for(4, -1ms));
    EXPECT_EQ(f.read_fe(), 3);
    EXPECT_EQ(f.try_read_ff_for(1ms), std::nullopt);
    EXPECT_EQ(f.try_read_fe_for(1ms), std::nullopt);
    EXPECT_FALSE(f.try_write_ff_for(4, 1ms));
    EXPECT_EQ(f.try_read_fe_until(std::chrono::steady_clock::now() - 1s), std::nullopt);
    EXPECT_EQ(f.waiting(), 0U);
    EXPECT_FALSE(f.is_full());
    f.write_ef(5);
    EXPECT_EQ(f.try_read_ff_until(std::chrono::steady_clock::now() + 1h), 5);
    EXPECT_TRUE(f.try_write_ff_until(6, std::chrono::steady_clock::now() + 1h));
    EXPECT_EQ(f.read_ff(), 6);
}

// The first waiter's frame holds the queue of all.
TYPED_TEST(full_empty_semantics, the_first_waiter_gives_up) {
    TypeParam f(0);
    f.empty();
    std::atomic<bool> first_has_left{false};
    auto const until_more_wait = [&](std::size_t others) {
        while (f.waiting() < others + (first_has_left ? 0 : 1)) tulle::this_thread::yield();
    };
    auto first = tulle::spawn([&] {
        auto const nothing = f.try_read_fe_for(5ms);
        first_has_left = true;
        return nothing;
    });
    until_more_wait(0);
    auto second = tulle::spawn([&f] { return f.read_ff(); });
    until_more_wait(1);
    auto third = tulle::spawn([&f] { return f.try_read_ff_for(1h); });
    until_more_wait(2);
    EXPECT_EQ(first.join(), std::nullopt);
    EXPECT_EQ(f.waiting(), 2U);
    f.write_ef(9);
    EXPECT_EQ(second.join(), 9);
    EXPECT_EQ(third.join(), 9);
}

TYPED_TEST(full_empty_semantics, foreign_threads) {
    TypeParam there(0), back(0);
    there.empty();
    back.empty();
    std::thread foreign([&] {
        for (int i = 0; i < 200; ++i) back.write_ef(there.read_fe() / 2);
    });
    auto t = tulle::spawn([&] {
        int errors = 0;
        for (int i = 0; i < 200; ++i) {
            there.write_ef(i % 100 * 2);
            errors += back.read_fe() != i % 100;
        }
        return errors;
    });
    EXPECT_EQ(t.join(), 0);
    foreign.join();
}

} // namespace

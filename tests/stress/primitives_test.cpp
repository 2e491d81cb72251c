// SPDX-License-Identifier: Apache-2.0
//
// Semaphores, shared mutexes, spin locks, channels, selects, phases, cancellation and timers, all
// at once: threads of both kinds do seeded random steps with deadlines and tokens, and in the end
// nothing may be lost or made. No benchmark. TULLE_TEST_SEED repeats the choices of a run,
// TULLE_STRESS_SECONDS makes it longer.
#include "stress.hpp"

#include <tulle/tulle.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <shared_mutex>
#include <utility>

namespace {

using clock_type = std::chrono::steady_clock;
using tulle::channel_status;
using tulle::base::rng;

// A source that is cancelled at some time, and made anew by whoever finds it cancelled.
class shared_source {
public:
    tulle::cancellation_token token() {
        std::lock_guard const held(m_lock);
        if (m_source.stop_requested() && !m_finished) m_source = tulle::cancellation_source();
        return m_source.get_token();
    }
    // By whoever leaves: from then on nobody waits for what those who left would have brought.
    void finish() {
        std::lock_guard const held(m_lock);
        m_finished = true;
        m_source.request_stop();
    }
    void cancel(rng& r) {
        std::lock_guard const held(m_lock);
        if (r.below(2) == 0)
            m_source.request_stop();
        else
            m_source.request_stop_after(brief(r));
    }

private:
    tulle::spin_lock m_lock;
    tulle::cancellation_source m_source;
    bool m_finished = false;
};

struct register_file {
    tulle::shared_mutex lock;
    std::array<long, 4> values{}; // plain, equal whenever nobody writes
    tulle::counting_semaphore<> units{2};
    std::atomic<int> holders{0};
};

struct totals {
    std::atomic<long> writes{0}, errors{0}, refused{0};
};

void write(register_file& f, totals& t, shared_source& s, rng& r) {
    bool const locked = r.below(2) == 0 ? f.lock.lock(s.token()) : f.lock.try_lock_for(brief(r));
    if (!locked) return static_cast<void>(++t.refused);
    for (long& v : f.values) ++v;
    if (r.below(8) == 0) tulle::this_thread::yield();
    ++t.writes;
    f.lock.unlock();
}

void read(register_file& f, totals& t, shared_source& s, rng& r) {
    bool const locked =
        r.below(2) == 0 ? (f.lock.lock_shared(), true) : f.lock.lock_shared({s.token(), brief(r)});
    if (!locked) return static_cast<void>(++t.refused);
    for (long const v : f.values) t.errors += v != f.values[0];
    if (r.below(16) == 0) tulle::this_thread::yield();
    f.lock.unlock_shared();
}

void hold_unit(register_file& f, totals& t, shared_source& s, rng& r) {
    if (!(r.below(2) == 0 ? f.units.acquire(s.token()) : f.units.try_acquire_for(brief(r))))
        return static_cast<void>(++t.refused);
    t.errors += ++f.holders > 2;
    if (r.below(8) == 0) tulle::this_thread::yield();
    --f.holders;
    f.units.release();
}

TEST(primitives_stress, locks_and_semaphores) {
    print_seed("locks_and_semaphores");
    register_file file;
    shared_source source;
    totals t;
    auto const end = end_of_run(3);
    run_mixed(20, 3, [&](int, rng& r) {
        while (clock_type::now() < end) {
            switch (r.below(8)) {
                case 0: write(file, t, source, r); break;
                case 1:
                case 2:
                case 3: read(file, t, source, r); break;
                case 4:
                case 5: hold_unit(file, t, source, r); break;
                case 6: source.cancel(r); break;
                default: tulle::this_thread::yield();
            }
        }
    });
    EXPECT_EQ(t.errors.load(), 0);
    EXPECT_EQ(file.values[0], t.writes.load());
    EXPECT_EQ(file.units.count(), 2);
    std::printf("%ld writes, %ld refused\n", t.writes.load(), t.refused.load());
}

// Coins that go from purse to purse; whoever has none takes one, whoever has one passes it on.
using purses = std::array<tulle::channel<int>, 4>;

bool take_coin(purses& p, shared_source& s, rng& r, int& coin) {
    tulle::receive_case x(p[r.below(4)]);
    tulle::receive_case y(p[r.below(4)]);
    std::size_t chosen = tulle::no_case;
    switch (r.below(4)) {
        case 0: chosen = tulle::select({s.token(), brief(r)}, x, y); break;
        case 1: chosen = tulle::try_select(x, y); break;
        case 2: chosen = tulle::select_for(brief(r), y); break;
        default: chosen = tulle::select_for(brief(r), x, y);
    }
    if (chosen == tulle::no_case) return false;
    coin = x.item ? *x.item : *y.item;
    return true;
}

bool pass_coin(purses& p, shared_source& s, rng& r, int coin) {
    auto& to = p[r.below(4)];
    switch (r.below(4)) {
        case 0: return to.try_send(coin) == channel_status::success;
        case 1: return to.send(coin, s.token()) == channel_status::success;
        case 2: {
            tulle::send_case there(to, coin);
            tulle::send_case elsewhere(p[r.below(4)], coin);
            return tulle::select_for(brief(r), there, elsewhere) != tulle::no_case;
        }
        default: return to.send_for(coin, brief(r)) == channel_status::success;
    }
}

TEST(primitives_stress, coins_in_channels) {
    print_seed("coins_in_channels");
    constexpr int k_coins = 12;
    purses p{tulle::channel<int>(0), tulle::channel<int>(1), tulle::channel<int>(3),
             tulle::channel<int>(tulle::unbounded)};
    for (int k = 0; k < k_coins; ++k) p[3].send(1 << k);
    shared_source source;
    std::atomic<int> pocketed{0};
    std::atomic<long> moves{0};
    auto const end = end_of_run(3);
    run_mixed(20, 3, [&](int, rng& r) {
        int coin = 0;
        bool has = false;
        while (clock_type::now() < end) {
            if (r.below(20) == 0) source.cancel(r);
            if (has)
                has = !pass_coin(p, source, r, coin);
            else
                has = take_coin(p, source, r, coin);
            ++moves;
            // Tries and limits that are over do not.
            if (r.below(4) == 0) tulle::this_thread::yield();
        }
        source.finish();
        if (has) pocketed += coin;
    });
    for (auto& c : p)
        while (auto const coin = c.try_receive()) pocketed += *coin;
    EXPECT_EQ(pocketed.load(), (1 << k_coins) - 1);
    std::printf("%ld moves\n", moves.load());
}

TEST(primitives_stress, phases_with_limits) {
    print_seed("phases_with_limits");
    constexpr int k_green = 6;
    constexpr int k_foreign = 2;
    constexpr int k_phases = 2000;
    int completed = 0; // plain
    tulle::phased_barrier b(k_green + k_foreign, [&completed]() noexcept { ++completed; });
    shared_source source;
    std::atomic<int> errors{0};
    run_mixed(k_green, k_foreign, [&](int, rng& r) {
        for (int p = 1; p <= k_phases; ++p) {
            auto arrival = b.arrive();
            if (r.below(3) == 0)
                while (!b.wait(arrival, {source.token(), brief(r)})) tulle::this_thread::yield();
            else
                b.wait(std::move(arrival));
            errors += completed < p;
            if (r.below(50) == 0) source.cancel(r);
        }
    });
    EXPECT_EQ(errors.load(), 0);
    EXPECT_EQ(completed, k_phases);
}

TEST(primitives_stress, timers_come_and_go) {
    print_seed("timers_come_and_go");
    std::atomic<long> due{0}, called{0};
    auto const end = end_of_run(3);
    run_mixed(8, 2, [&](int, rng& r) {
        while (clock_type::now() < end) {
            auto t = tulle::timer::after(brief(r), [&called] { ++called; });
            if (r.below(2) == 0) tulle::this_thread::sleep_for(brief(r));
            bool const cancelled = r.below(2) == 0 && t.cancel();
            due += cancelled ? 0 : 1;
            t.wait();
            auto const periodic = tulle::timer::every(brief(r), [] {});
            if (r.below(4) == 0) tulle::this_thread::sleep_for(brief(r));
        }
    });
    EXPECT_EQ(called.load(), due.load());
}

} // namespace

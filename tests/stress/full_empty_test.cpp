// SPDX-License-Identifier: Apache-2.0
//
// Full/empty words and objects under many Tulle threads and foreign OS threads with seeded random
// steps. Every number that is put in is taken out once, and increments by read_fe and write_ef are
// all there. No benchmark. TULLE_TEST_SEED repeats the choices, TULLE_STRESS_SECONDS makes it
// longer.
#include "base/rng.hpp"
#include "full_empty_faces.hpp"
#include "stress.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

namespace {

namespace feb = tulle::feb;
using clock_type = std::chrono::steady_clock;
using tulle::base::rng;

struct totals {
    std::atomic<std::uint64_t> put{0}, taken{0}, refused{0}, increments{0}, errors{0};
};

// Words that are used as queues of one: all of a granule, so that they share a slot, and more.
struct queues {
    alignas(8) std::array<std::uint16_t, 4> small{};
    std::array<std::uint64_t, 4> large{};
    std::array<std::unique_ptr<object_face<large_value>>, 3> objects;

    queues() {
        for (auto& w : small) feb::empty(w);
        for (auto& w : large) feb::empty(w);
        for (auto& o : objects) {
            o = std::make_unique<object_face<large_value>>(0);
            o->empty();
        }
    }
    ~queues() {
        for (auto& w : small) feb::fill(w);
        for (auto& w : large) feb::fill(w);
    }
};

bool put(queues& q, std::uint64_t which, int v, std::chrono::microseconds patience) {
    if (which < 4)
        return feb::try_write_ef_for(q.small[which], static_cast<std::uint16_t>(v), patience);
    if (which < 8)
        return feb::try_write_ef_for(q.large[which - 4], static_cast<std::uint64_t>(v), patience);
    return q.objects[which - 8]->try_write_ef_for(v, patience);
}
std::optional<int> take(queues& q, std::uint64_t which, std::chrono::microseconds patience) {
    if (which < 4) return feb::try_read_fe_for(q.small[which], patience);
    if (which >= 8) return q.objects[which - 8]->try_read_fe_for(patience);
    auto const v = feb::try_read_fe_for(q.large[which - 4], patience);
    return v ? std::optional<int>(static_cast<int>(*v)) : std::nullopt;
}
std::optional<int> read_in_time(queues& q, std::uint64_t which,
                                std::chrono::microseconds patience) {
    if (which < 4) return feb::try_read_ff_for(q.small[which], patience);
    if (which >= 8) return q.objects[which - 8]->try_read_ff_for(patience);
    auto const v = feb::try_read_ff_for(q.large[which - 4], patience);
    return v ? std::optional<int>(static_cast<int>(*v)) : std::nullopt;
}

TEST(full_empty_stress, nothing_is_lost_or_taken_twice) {
    queues q;
    totals t;
    auto const end = end_of_run(2);
    print_seed("nothing_is_lost_or_taken_twice");
    run_mixed(24, 3, [&](int, rng& r) {
        while (clock_type::now() < end) {
            std::uint64_t const which = r.below(11);
            auto const patience = r.below(3) == 0 ? std::chrono::microseconds(2000) : brief(r);
            switch (r.below(5)) {
                case 0:
                case 1: {
                    int const v = static_cast<int>(1 + r.below(60000));
                    if (put(q, which, v, patience))
                        t.put += static_cast<std::uint64_t>(v);
                    else
                        ++t.refused;
                    break;
                }
                case 2:
                case 3:
                    if (auto const v = take(q, which, patience))
                        t.taken += static_cast<std::uint64_t>(*v);
                    else
                        ++t.refused;
                    break;
                default:
                    if (read_in_time(q, which, brief(r)).value_or(1) <= 0)
                        ++t.errors; // torn, or nobody's
                    if (r.below(4) == 0) tulle::this_thread::yield();
            }
        }
    });
    for (std::uint64_t which = 0; which < 11; ++which)
        t.taken += static_cast<std::uint64_t>(take(q, which, {}).value_or(0));
    EXPECT_EQ(t.put.load(), t.taken.load());
    EXPECT_EQ(t.errors.load(), 0U);
    std::printf("sum %llu, %llu refused\n", static_cast<unsigned long long>(t.put.load()),
                static_cast<unsigned long long>(t.refused.load()));
}

// Waits without time-outs: a lost wake-up would hang. The word is used as a variable by who has
// emptied it; readers never see that.
TEST(full_empty_stress, increments_and_readers) {
    std::array<long, 3> words{};
    tulle::full_empty<long> object(0);
    totals t;
    auto const end = end_of_run(2);
    print_seed("increments_and_readers");
    run_mixed(16, 3, [&](int, rng& r) {
        std::array<long, 4> last{};
        while (clock_type::now() < end) {
            std::size_t const k = r.below(4);
            if (r.below(3) == 0) {
                long const v = k == 3 ? object.read_ff() : feb::read_ff(words[k]);
                if (v < last[k]) ++t.errors;
                last[k] = v;
            } else if (k == 3) {
                object.write_ef(object.read_fe() + 1);
                ++t.increments;
            } else {
                long const v = feb::read_fe(words[k]);
                words[k] = -1;
                if (r.below(16) == 0) tulle::this_thread::yield(); // as its owner
                if (r.below(2) == 0) {
                    feb::write_ef(words[k], v + 1);
                } else {
                    words[k] = v + 1;
                    feb::fill(words[k]);
                }
                ++t.increments;
            }
        }
    });
    std::uint64_t sum = static_cast<std::uint64_t>(object.read_ff());
    for (long const& w : words) sum += static_cast<std::uint64_t>(feb::read_ff(w));
    EXPECT_EQ(sum, t.increments.load());
    EXPECT_EQ(t.errors.load(), 0U);
    std::printf("%llu increments\n", static_cast<unsigned long long>(sum));
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
//
// The option `check`: addresses that are sent to another place are found, and nothing else is.
#include "base/rng.hpp"
#include "base/sanitize.hpp"
#include "loopback_places.hpp"
#include "worker_of_all_places.hpp"

#include <tulle/at_home.hpp>
#include <tulle/finish.hpp>
#include <tulle/global_memory.hpp>
#include <tulle/place.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

// No aggregate, in which the compiler would see the pointer.
struct named_address {
    named_address() noexcept = default;
    named_address(long its_number, long const* address) noexcept
        : number(its_number), where(address) {}

    long number = 1; // nothing lies between the two, where old addresses could
    long const* where = nullptr;
};

// A number whose address, read from 4 bytes before it, is none: AddressSanitizer's first pieces of
// the heap, at 0x602000006290 or so, would be taken for 0x629000000000, which is in its heap, too.
class distinct_number {
public:
    distinct_number() {
        do m_numbers.push_back(std::make_unique<long>(5));
        while ((reinterpret_cast<std::uintptr_t>(get()) & 0xffff0000U) == 0);
    }
    [[nodiscard]] long const* get() const { return m_numbers.back().get(); }

private:
    std::vector<std::unique_ptr<long>> m_numbers;
};

testing::AssertionResult says(std::string const& text, std::string const& part) {
    if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "it says: " << text;
}

class stray_address : looks_for_all_places, started, public testing::Test {
protected:
    stray_address() { begin_looking(m_places); }
    ~stray_address() override { end_looking(); }

    template <class F> static std::string complaint(F f) {
        try {
            f();
        } catch (std::invalid_argument const& e) {
            return e.what();
        }
        return "";
    }
    loopback_places m_places{3, {}, {.searches = true}};
    tulle::place const m_there{1};
};

TEST_F(stray_address, in_captures) {
    long here = 5;
    EXPECT_TRUE(says(complaint([&] { tulle::at(m_there, [&here] { ++here; }); }),
                     "the stack of the calling thread of place 0"));
    EXPECT_EQ(here, 5);
}

TEST_F(stray_address, in_arguments) {
    distinct_number const far;
    auto const use = [](named_address a) { return *a.where; };
    EXPECT_TRUE(says(complaint([&] {
                         tulle::at(m_there, use, named_address{2, far.get()});
                     }),
                     "the heap"));
    static long const s_constant = 3;
    EXPECT_NE(complaint([&] { tulle::at(m_there, use, named_address{2, &s_constant}); }), "");
    auto const count = [](std::vector<named_address> const& all) { return all.size(); };
    EXPECT_TRUE(says(complaint([&] {
                         tulle::at(m_there, count, std::vector<named_address>{{}, {3, far.get()}});
                     }),
                     "byte 32 "));
}

TEST_F(stray_address, wherever_bytes_begin) {
    long const here = 5;
    for (std::size_t before = 0; before < 9; ++before) {
        auto const call = [&] {
            tulle::at(
                m_there, [](std::string const&, named_address) {}, std::string(before, 'x'),
                named_address{2, &here});
        };
        EXPECT_NE(complaint(call), "") << before;
    }
}

TEST_F(stray_address, in_results) {
    static long s_there = 5;
    EXPECT_TRUE(
        says(complaint([&] {
                 static_cast<void>(tulle::at(m_there, [] { return named_address{2, &s_there}; }));
             }),
             "goes to place 0 "));
}

TEST_F(stray_address, of_activities) {
    static std::atomic<int> s_started;
    s_started = 0;
    long here = 5;
    tulle::finish([&](tulle::activities& all) {
        auto const bad = [&here] { s_started += static_cast<int>(here); };
        EXPECT_THROW(all.async_at(m_there, bad), std::invalid_argument);
        EXPECT_THROW(all.async_any(bad), std::invalid_argument);
        all.async_at(m_there, [] { ++s_started; });
        all.async_any([] { ++s_started; });
    });
    EXPECT_EQ(s_started, 2);
}

TEST_F(stray_address, in_what_is_written_there) {
    auto const words = tulle::make_global<tulle::full_empty<named_address>>(m_there);
    tulle::at_home const box(words);
    long const here = 5;
    box.empty();
    EXPECT_NE(complaint([&] { box.write_ef(named_address{4, &here}); }), "");
    EXPECT_FALSE(box.is_full());
    EXPECT_TRUE(box.try_write_ef(named_address{4, nullptr}));
    EXPECT_TRUE(box.try_read_fe());
    box.fill();
    tulle::destroy_global(words);
}

TEST_F(stray_address, here_they_may_be_used) {
    long here = 5;
    tulle::at(tulle::here(), [&here] { ++here; });
    EXPECT_EQ(here, 6);
}

TEST_F(stray_address, what_is_meant_for_others_is_none) {
    long here = 5;
    tulle::global_ref<long> const own(here);
    EXPECT_EQ(tulle::at(m_there, [own] { return tulle::at(own.home(), [own] { return ++*own; }); }),
              6);
    auto const word = tulle::allocate_global_cleared<std::uint64_t>(4);
    tulle::at(m_there, [word] { (word + 1).store(7); });
    EXPECT_EQ((word + 1).load(), 7U);
    tulle::free_global(word);
}

TEST_F(stray_address, values_are_none) {
    std::vector<double> numbers(5000);
    std::iota(numbers.begin(), numbers.end(), 1.0);
    tulle::base::rng random(3);
    // Two of which make an address if the second one is large: 0x5555 and above.
    std::vector<int> integers(5000);
    constexpr bool k_is_sanitized =
        // They map what small numbers look like.
        tulle::base::k_thread_sanitizer || tulle::base::k_address_sanitizer;
    for (auto& n : integers) n = k_is_sanitized ? 1 : static_cast<int>(random.below(20'000));
    auto const count = [](std::vector<double> const& a, std::vector<int> const& b,
                          std::string const& c) { return a.size() + b.size() + c.size(); };
    EXPECT_EQ(tulle::at(m_there, count, numbers, integers, std::string(100'000, 'U')), 110'000U);
}

} // namespace

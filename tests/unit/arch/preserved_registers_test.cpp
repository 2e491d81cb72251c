// SPDX-License-Identifier: Apache-2.0
//
// Every register that a called function must preserve holds a value of its own while contexts take
// turns. The functions that do it are made from the table of registers in
// tests/arch/architectures.py.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends.hpp"
#include "preserved_registers.hpp"

namespace {

template <class Backend> class preserved_registers : public over_backends<Backend> {};
TYPED_TEST_SUITE(preserved_registers, all_backends);

TYPED_TEST(preserved_registers, survive) {
    using fiber_type = test_fiber<TypeParam>;
    constexpr std::uintptr_t k_rounds = 30;
    int wrong = 0;
    auto const body = [&wrong](fiber_type& self, std::uintptr_t seed) {
        for (std::uintptr_t round = 0; round < k_rounds; ++round)
            wrong += wrong_registers(self, seed * 1000 + round);
    };
    fiber_type one([&](fiber_type& self) { body(self, 1); });
    fiber_type two([&](fiber_type& self) { body(self, 2); });
    fiber_type three([&](fiber_type& self) { body(self, 3); });
    int resumes = 0;
    for (; !three.done(); ++resumes) {
        one.resume();
        two.resume();
        three.resume();
    }
    EXPECT_EQ(wrong, 0);
    EXPECT_GE(resumes, int(k_rounds)) << "each function yields once";
}

// A switch that is inlined has its caller's values around it, and the registers that it saves
// itself (frame pointers, mostly) are the only ones that the compiler may leave them in.
template <class Backend> struct counting_pair {
    typename Backend::context home, other;
    tulle::arch::sanitizer_fiber home_annotation, other_annotation;
    std::vector<std::byte> stack = std::vector<std::byte>(test_fiber<Backend>::k_stack);
    std::uintptr_t sum_of_other = 0;

    [[gnu::always_inline]] void to_other() {
        tulle::arch::before_switch(home_annotation, other_annotation, false);
        Backend::switch_to(home, other);
        tulle::arch::after_switch(home_annotation);
    }
    [[gnu::always_inline]] void to_home() {
        tulle::arch::before_switch(other_annotation, home_annotation, false);
        Backend::switch_to(other, home);
        tulle::arch::after_switch(other_annotation);
    }

    static void run_other(void* argument) {
        auto* const self = static_cast<counting_pair*>(argument);
        tulle::arch::after_switch(self->other_annotation);
        for (std::uintptr_t a = 1, b = 2, sum = 0;; a += 3, b += 5) {
            sum += a ^ b;
            self->sum_of_other = sum;
            self->to_home();
        }
    }
};

TYPED_TEST(preserved_registers, values_live_across_an_inlined_switch) {
    counting_pair<TypeParam> pair;
    pair.home_annotation.adopt_current_thread();
    pair.other_annotation.create(pair.stack.data(), pair.stack.size());
    TypeParam::make(pair.other, pair.stack.data(), pair.stack.size(),
                    &counting_pair<TypeParam>::run_other, &pair);
    auto* const self = &pair;
    std::uintptr_t sum = 0, mine = 0;
    for (std::uintptr_t k = 0; k < 50; ++k) {
        sum += (1 + 3 * k) ^ (2 + 5 * k);
        self->to_other();
        mine += k;
        ASSERT_EQ(self->sum_of_other, sum);
    }
    EXPECT_EQ(mine, 49U * 50 / 2);
    tulle::arch::forget_stack(pair.stack.data(), pair.stack.size());
    pair.other_annotation.destroy();
}

} // namespace

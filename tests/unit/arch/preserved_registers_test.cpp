// SPDX-License-Identifier: Apache-2.0
//
// Every register that a called function must preserve holds a value of its own while contexts take turns. The functions that do it are made from
// the table of registers in tests/arch/architectures.py.
#include <cstdint>

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
        for (std::uintptr_t round = 0; round < k_rounds; ++round) wrong += wrong_registers(self, seed * 1000 + round);
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

} // namespace

// SPDX-License-Identifier: Apache-2.0
#include "dsm/atomic_access.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

#include <tulle/coherent_abi.h>

namespace tulle::dsm {
namespace {

constexpr std::uint64_t k_garbage = 0xEEEE'EEEE'EEEE'EEEE; // around what is accessed

class atomic_access : public testing::TestWithParam<unsigned> { // log2 of the bytes
protected:
    std::uint64_t access(std::uint32_t kind, std::uint64_t operand, std::uint64_t expected = 0) {
        std::uint32_t const size = GetParam() << TULLE_COHERENT_ATOMIC_SIZE_SHIFT;
        std::uint32_t const order = __ATOMIC_SEQ_CST << TULLE_COHERENT_ATOMIC_ORDER_SHIFT;
        return access_atomically(reinterpret_cast<std::uint64_t>(&m_words[1]), operand, expected,
                                 kind | size | order);
    }
    void set(std::uint64_t value) { std::memcpy(&m_words[1], &value, 1U << GetParam()); }
    [[nodiscard]] std::uint64_t get() const {
        std::uint64_t value = 0;
        std::memcpy(&value, &m_words[1], 1U << GetParam());
        return value;
    }
    [[nodiscard]] bool neighbours_are_untouched() const {
        unsigned const bytes = 1U << GetParam();
        auto const* const end = reinterpret_cast<unsigned char const*>(&m_words[2]);
        for (auto const* p = end - (8 - bytes); p != end; ++p)
            if (*p != 0xEE) return false;
        return m_words[0] == k_garbage && m_words[2] == k_garbage;
    }

private:
    std::uint64_t m_words[3]{k_garbage, k_garbage, k_garbage};
};

TEST_P(atomic_access, does_what_is_asked_for_and_returns_what_was_there) {
    struct row {
        std::uint32_t kind;
        std::uint64_t before, operand, after;
    };
    for (row const& r :
         {row{TULLE_COHERENT_ATOMIC_LOAD, 12, 0, 12}, row{TULLE_COHERENT_ATOMIC_SWAP, 12, 5, 5},
          row{TULLE_COHERENT_ATOMIC_ADD, 12, 5, 17}, row{TULLE_COHERENT_ATOMIC_SUB, 12, 5, 7},
          row{TULLE_COHERENT_ATOMIC_AND, 12, 5, 4}, row{TULLE_COHERENT_ATOMIC_OR, 12, 5, 13},
          row{TULLE_COHERENT_ATOMIC_XOR, 12, 5, 9}}) {
        set(r.before);
        EXPECT_EQ(access(r.kind, r.operand), r.before) << r.kind;
        EXPECT_EQ(get(), r.after) << r.kind;
        EXPECT_TRUE(neighbours_are_untouched()) << r.kind;
    }
    access(TULLE_COHERENT_ATOMIC_STORE, 99);
    EXPECT_EQ(get(), 99U);
}

TEST_P(atomic_access, stores_only_where_the_expected_value_is) {
    set(7);
    EXPECT_EQ(access(TULLE_COHERENT_ATOMIC_COMPARE, 8, 6), 7U);
    EXPECT_EQ(get(), 7U);
    EXPECT_EQ(access(TULLE_COHERENT_ATOMIC_COMPARE, 8, 7), 7U);
    EXPECT_EQ(get(), 8U);
    EXPECT_TRUE(neighbours_are_untouched());
}

INSTANTIATE_TEST_SUITE_P(sizes, atomic_access, testing::Values(0U, 1U, 2U, 3U));

} // namespace
} // namespace tulle::dsm

// SPDX-License-Identifier: Apache-2.0
#include "sync/item_store.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <new>

namespace {

using tulle::sync::item_store;

int alive = 0;

struct item {
    explicit item(int v) : value(v) { ++alive; }
    item(item const& other) : value(other.value) { ++alive; }
    item(item&& other) noexcept : value(other.value) { ++alive; }
    item& operator=(item const&) = delete;
    ~item() { --alive; }
    int value;
};

void move_item(void* to, void* from, std::size_t) noexcept {
    ::new (to) item(std::move(*static_cast<item*>(from)));
}
void destroy_item(void* what, std::size_t) noexcept { static_cast<item*>(what)->~item(); }

template <std::size_t Alignment = alignof(item)>
constexpr tulle::detail::item_type k_type{Alignment > sizeof(item) ? Alignment : sizeof(item),
                                          Alignment, &move_item, &destroy_item};

void push(item_store& s, int value) {
    if (s.needs_block()) s.free_block(s.exchange_spare(s.make_block()));
    ::new (s.add_back()) item(value);
}
int pop(item_store& s) {
    auto* const first = static_cast<item*>(s.front());
    int const value = first->value;
    first->~item();
    s.free_block(s.drop_front());
    return value;
}

class item_store_capacities : public ::testing::TestWithParam<std::size_t> {};

TEST_P(item_store_capacities, is_first_in_first_out) {
    std::size_t const capacity = GetParam();
    {
        item_store s(k_type<>, capacity);
        std::deque<int> model;
        std::uint32_t random = 7;
        for (int k = 0; k < 20000; ++k) {
            random = random * 1664525U + 1013904223U;
            bool const grow = (random >> 16U) % 5 < (k / 4000 % 2 == 0 ? 3U : 2U);
            if (grow && !s.is_full()) {
                push(s, k);
                model.push_back(k);
            } else if (!model.empty()) {
                ASSERT_EQ(pop(s), model.front());
                model.pop_front();
            }
            ASSERT_EQ(s.count(), model.size());
            ASSERT_EQ(s.is_full(), model.size() == capacity);
        }
        EXPECT_EQ(alive, static_cast<int>(model.size()));
        // Something is left for the destructor.
        push(s.count() == capacity ? (static_cast<void>(pop(s)), s) : s, 1);
    }
    EXPECT_EQ(alive, 0);
}

INSTANTIATE_TEST_SUITE_P(item_store, item_store_capacities,
                         ::testing::Values(1U, 2U, 7U, 1000U, tulle::detail::k_unbounded));

TEST(item_store, aligns_items) {
    for (std::size_t const capacity : {std::size_t{3}, tulle::detail::k_unbounded}) {
        item_store s(k_type<128>, capacity);
        for (int k = 0; k < 3; ++k) {
            push(s, k);
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(s.front()) % 128, 0U);
        }
    }
}

TEST(item_store, without_room_needs_no_memory) {
    item_store const s(k_type<>, 0);
    EXPECT_TRUE(s.is_full());
    EXPECT_FALSE(s.needs_block());
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
// Each list does what a std::deque of pointers does, whatever is done to it.
#include "base/intrusive_list.hpp"

#include "base/atomic.hpp"
#include "base/rng.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

namespace {

using namespace tulle::base;

struct linked {
    linked* next = nullptr;
    linked* previous = nullptr;
    linked* other_next = nullptr;
};
struct plainly_linked {
    plain<plainly_linked*> next{nullptr};
    plain<plainly_linked*> previous{nullptr};
    plain<plainly_linked*> other_next{nullptr};
};

template <class T> using stack_of = intrusive_stack<&T::next>;
template <class T> using queue_of = intrusive_queue<&T::next>;
template <class T> using list_of = intrusive_list<&T::next, &T::previous>;

static_assert(std::is_trivially_copyable_v<queue_of<linked>>); // it is returned in registers
static_assert(sizeof(stack_of<linked>) == sizeof(void*));
static_assert(sizeof(queue_of<plainly_linked>) == 2 * sizeof(void*));
static_assert(sizeof(list_of<plainly_linked>) == 2 * sizeof(void*));

template <class T> struct intrusive_list_test : ::testing::Test {
    std::array<T, 8> elements;
    std::deque<T*> expected;
    rng draws{42};

    // One that is in no list; null: all are.
    T* spare() {
        for (T& e : elements)
            if (std::find(expected.begin(), expected.end(), &e) == expected.end()) return &e;
        return nullptr;
    }
    std::size_t any_index() { return draws.below(static_cast<std::uint32_t>(expected.size())); }
    T* expect_front() {
        if (expected.empty()) return nullptr;
        T* const e = expected.front();
        expected.pop_front();
        return e;
    }
    T* expect_back() {
        if (expected.empty()) return nullptr;
        T* const e = expected.back();
        expected.pop_back();
        return e;
    }
    template <class List> void expect_same(List const& list) {
        std::vector<T*> found;
        for (T& e : list) found.push_back(&e);
        ASSERT_EQ(found, std::vector<T*>(expected.begin(), expected.end()));
        ASSERT_EQ(list.empty(), expected.empty());
        ASSERT_EQ(list.first(), expected.empty() ? nullptr : expected.front());
    }
};

using element_types = ::testing::Types<linked, plainly_linked>;
TYPED_TEST_SUITE(intrusive_list_test, element_types);

constexpr int k_steps = 20000;

TYPED_TEST(intrusive_list_test, stack) {
    stack_of<TypeParam> stack;
    for (int k = 0; k < k_steps && !this->HasFatalFailure(); ++k) {
        std::uint32_t const what = this->draws.below(16);
        TypeParam* const spare = this->spare();
        if (what < 8 && spare != nullptr) {
            stack.push(*spare);
            this->expected.push_front(spare);
        } else if (what < 12) {
            ASSERT_EQ(stack.pop(), this->expect_front());
        } else if (what < 15 && !this->expected.empty()) {
            auto const at = this->expected.begin() + static_cast<long>(this->any_index());
            stack.remove(**at);
            this->expected.erase(at);
        } else if (what == 15) {
            stack.clear();
            this->expected.clear();
        }
        this->expect_same(stack);
    }
}

TYPED_TEST(intrusive_list_test, queue) {
    queue_of<TypeParam> queue;
    for (int k = 0; k < k_steps && !this->HasFatalFailure(); ++k) {
        std::uint32_t const what = this->draws.below(16);
        TypeParam* const spare = this->spare();
        if (what < 6 && spare != nullptr) {
            queue.push_back(*spare);
            this->expected.push_back(spare);
        } else if (what < 9 && spare != nullptr) {
            queue.push_front(*spare);
            this->expected.push_front(spare);
        } else if (what < 15) {
            ASSERT_EQ(queue.pop_front(), this->expect_front());
        } else {
            queue.clear();
            this->expected.clear();
        }
        if (!this->expected.empty()) {
            ASSERT_EQ(queue.last(), this->expected.back());
        }
        this->expect_same(queue);
    }
}

TYPED_TEST(intrusive_list_test, list) {
    list_of<TypeParam> list;
    for (int k = 0; k < k_steps && !this->HasFatalFailure(); ++k) {
        std::uint32_t const what = this->draws.below(20);
        TypeParam* const spare = this->spare();
        if (what < 4 && spare != nullptr) {
            list.push_back(*spare);
            this->expected.push_back(spare);
        } else if (what < 8 && spare != nullptr) {
            list.push_front(*spare);
            this->expected.push_front(spare);
        } else if (what < 11 && spare != nullptr) {
            std::size_t const index =
                this->draws.below(static_cast<std::uint32_t>(this->expected.size()) + 1);
            list.insert(std::next(list.begin(), static_cast<long>(index)), *spare);
            this->expected.insert(this->expected.begin() + static_cast<long>(index), spare);
        } else if (what < 15 && !this->expected.empty()) {
            auto const at = this->expected.begin() + static_cast<long>(this->any_index());
            list.remove(**at);
            this->expected.erase(at);
        } else if (what < 17) {
            ASSERT_EQ(list.pop_front(), this->expect_front());
        } else if (what < 19) {
            ASSERT_EQ(list.pop_back(), this->expect_back());
        } else {
            list.clear();
            this->expected.clear();
        }
        ASSERT_EQ(list.last(), this->expected.empty() ? nullptr : this->expected.back());
        this->expect_same(list);
    }
}

TYPED_TEST(intrusive_list_test, element_is_in_several_lists_by_several_links) {
    list_of<TypeParam> list;
    intrusive_stack<&TypeParam::other_next> stack;
    for (TypeParam& e : this->elements) {
        list.push_back(e);
        stack.push(e);
    }
    list.remove(this->elements[3]);
    for (std::size_t k = this->elements.size(); k != 0; --k)
        EXPECT_EQ(stack.pop(), &this->elements[k - 1]);
    for (TypeParam& e : this->elements)
        if (&e != &this->elements[3]) this->expected.push_back(&e);
    this->expect_same(list);
}

TYPED_TEST(intrusive_list_test, list_moves_to_another_address) {
    list_of<TypeParam> old;
    for (TypeParam& e : this->elements) {
        old.push_back(e);
        this->expected.push_back(&e);
    }
    list_of<TypeParam> moved(old);
    moved.remove(*this->expect_back());
    moved.remove(*this->expect_front());
    this->expect_same(moved);
    list_of<TypeParam> all = moved.take_all();
    EXPECT_TRUE(moved.empty());
    EXPECT_EQ(moved.last(), nullptr);
    all.push_back(this->elements.front());
    this->expected.push_back(&this->elements.front());
    this->expect_same(all);
}

// A queue whose links are pointers is a value.
struct intrusive_queue_test : intrusive_list_test<linked> {
    queue_of<linked> queue;

    void fill(queue_of<linked>& to, std::size_t first, std::size_t last) {
        for (; first != last; ++first) {
            to.push_back(elements[first]);
            expected.push_back(&elements[first]);
        }
    }
    [[nodiscard]] bool is_even(linked const& e) const { return (&e - elements.data()) % 2 == 0; }
};

TEST_F(intrusive_queue_test, appended_queue_is_empty_and_can_be_used) {
    queue_of<linked> others;
    queue.append(others);
    EXPECT_TRUE(queue.empty());
    fill(others, 0, 2);
    queue.append(others); // to an empty one
    EXPECT_TRUE(others.empty());
    fill(others, 2, 5);
    queue.append(others); // behind some
    EXPECT_TRUE(others.empty());
    fill(queue, 5, 6); // the end is known
    expect_same(queue);
    others.push_back(elements[7]);
    EXPECT_EQ(others.pop_front(), &elements[7]);
    EXPECT_TRUE(others.empty());
}

TEST_F(intrusive_queue_test, extract_keeps_both_orders) {
    fill(queue, 0, elements.size());
    std::vector<linked*> told;
    queue_of<linked> even = queue.extract([this](linked const& e) { return is_even(e); },
                                          [&told](linked& e) { told.push_back(&e); });
    std::vector<linked*> const wanted{&elements[0], &elements[2], &elements[4], &elements[6]};
    EXPECT_EQ(told, wanted);
    EXPECT_EQ(queue.pop_front(), &elements[1]);
    even.push_back(elements[1]); // both ends are known
    for (linked* const e : wanted) EXPECT_EQ(even.pop_front(), e);
    EXPECT_EQ(even.pop_front(), &elements[1]);
    queue.push_back(elements[0]);
    expected = {&elements[3], &elements[5], &elements[7], &elements[0]};
    expect_same(queue);
}

TEST_F(intrusive_queue_test, extract_takes_none_or_all) {
    fill(queue, 0, 3);
    auto const ignore = [](linked&) {};
    EXPECT_TRUE(queue.extract([](linked const&) { return false; }, ignore).empty());
    expect_same(queue);
    queue_of<linked> const all = queue.extract([](linked const&) { return true; }, ignore);
    EXPECT_TRUE(queue.empty());
    expect_same(all);
}

TEST_F(intrusive_queue_test, take_all_leaves_an_empty_one) {
    fill(queue, 0, 3);
    queue_of<linked> const all = queue.take_all();
    expect_same(all);
    EXPECT_TRUE(queue.empty());
    EXPECT_EQ(queue.pop_front(), nullptr);
}

TEST_F(intrusive_queue_test, an_element_that_left_keeps_its_link) {
    fill(queue, 0, 2);
    EXPECT_EQ(queue.pop_front()->next, &elements[1]); // what comes next may be fetched early
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
#include <tulle/tulle.hpp>

#include <array>
#include <atomic>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

class fork_test : public ::testing::TestWithParam<int> {
protected:
    void SetUp() override { tulle::initialize({.workers = GetParam()}); }
    void TearDown() override { tulle::finalize(); }
};
INSTANTIATE_TEST_SUITE_P(workers, fork_test, ::testing::Values(1, 2, 4));

TEST_P(fork_test, results_of_all_kinds) {
    static std::string const s_long(100, 'a');
    int x = 0;
    auto number = tulle::fork([] { return 42; });
    auto nothing = tulle::fork([&x] { x = 1; });
    auto movable = tulle::fork([] { return std::make_unique<int>(7); });
    auto reference = tulle::fork([&x]() -> int& { return x; });
    auto text = tulle::fork([s = s_long] { return s + 'b'; });
    EXPECT_EQ(text.join(), s_long + 'b');
    EXPECT_EQ(&reference.join(), &x);
    EXPECT_EQ(*movable.join(), 7);
    nothing.join();
    EXPECT_EQ(number.join(), 42);
    EXPECT_EQ(x, 1);
}

TEST_P(fork_test, callables_of_all_sizes) {
    std::array<int, 2> const small{1, 2};
    std::array<int, 100> large{};
    large[99] = 3;
    struct alignas(64) wide {
        int value = 4;
    };
    auto a = tulle::fork([small] { return small[1]; });
    auto b = tulle::fork([large] { return large[99]; });
    auto c = tulle::fork(
        [w = wide{}] { return reinterpret_cast<std::uintptr_t>(&w) % 64 == 0 ? w.value : 0; });
    auto d = tulle::fork([p = std::make_unique<int>(5)] { return *p; });
    EXPECT_EQ(d.join(), 5);
    EXPECT_EQ(c.join(), 4);
    EXPECT_EQ(b.join(), 3);
    EXPECT_EQ(a.join(), 2);
}

// Its copies are made by two threads.
class parallel_copy {
public:
    explicit parallel_copy(int value) : m_numbers(2, value) {}
    parallel_copy(parallel_copy const& other) : m_numbers(2) {
        int const* const from = other.m_numbers.data();
        int* const to = m_numbers.data();
        auto first = tulle::fork([to, from] { to[0] = from[0]; });
        to[1] = from[1];
        first.join();
    }
    parallel_copy(parallel_copy&&) noexcept = default;
    [[nodiscard]] int sum() const { return m_numbers[0] + m_numbers[1]; }

private:
    std::vector<int> m_numbers;
};

// The fork inside took the record that the callable was being copied into.
TEST_P(fork_test, a_callable_whose_copy_forks) {
    parallel_copy numbers(4);
    std::array<int, 100> large{};
    for (int k = 0; k < 100; ++k) {
        auto const in_record = [numbers] { return numbers.sum(); };
        auto const in_frame = [numbers, large] { return numbers.sum() + large[0]; };
        auto a = tulle::fork(in_record);
        auto b = tulle::fork(in_frame);
        if (k % 2 == 0) tulle::this_thread::yield();
        EXPECT_EQ(b.join(), 8);
        EXPECT_EQ(a.join(), 8);
        std::atomic<int> sum{0};
        tulle::scope s;
        auto const small = [numbers, &sum] { sum += numbers.sum(); };
        auto const big = [numbers, large, &sum] { sum += numbers.sum() + large[0]; };
        for (int j = 0; j < 3; ++j) {
            s.spawn(small);
            s.spawn(big);
        }
        s.join();
        EXPECT_EQ(sum, 48);
    }
}

// Copied when it is taken, as it cannot be moved.
struct copied_result {
    copied_result() = default;
    copied_result(copied_result const& other) : numbers(other.numbers) {}
    parallel_copy numbers{4};
};

// The fork inside took the record in which the result of a stolen thread was.
TEST_P(fork_test, a_result_whose_copy_forks) {
    for (int k = 0; k < 100; ++k) {
        std::atomic<bool> began{false};
        auto made = tulle::fork([&began] {
            began = true;
            return copied_result();
        });
        while (GetParam() > 1 && !began) tulle::detail::cpu_pause();
        EXPECT_EQ(made.join().numbers.sum(), 8);
    }
}

int free_function() { return 11; }

TEST_P(fork_test, functions_and_mutable_callables) {
    auto a = tulle::fork(free_function);
    auto b = tulle::fork(&free_function);
    auto c = tulle::fork([n = 0]() mutable { return ++n; });
    EXPECT_EQ(c.join() + b.join() + a.join(), 23);
}

TEST_P(fork_test, child_that_is_not_joined_is_joined_at_the_end_of_its_scope) {
    std::atomic<int> ran{0};
    {
        auto const child = tulle::fork([&ran] { ++ran; });
    }
    EXPECT_EQ(ran, 1);
}

TEST_P(fork_test, exception_of_a_child_that_is_not_joined_leaves_its_scope) {
    auto const scope_with_child = [] {
        auto const child = tulle::fork([] { throw std::runtime_error("not joined"); });
    };
    EXPECT_THROW(scope_with_child(), std::runtime_error);
}

TEST_P(fork_test, exceptions_at_the_join) {
    auto child = tulle::fork([]() -> int { throw std::runtime_error("why"); });
    try {
        static_cast<void>(child.join());
        FAIL() << "nothing was thrown";
    } catch (std::runtime_error const& e) {
        EXPECT_STREQ(e.what(), "why");
    }
}

TEST_P(fork_test, unwinding_scope_drops_the_exceptions_of_its_children) {
    auto const both_throw = [] {
        auto const child = tulle::fork([] { throw std::logic_error("the child's"); });
        throw std::runtime_error("the parent's");
    };
    for (int k = 0; k < 100; ++k) EXPECT_THROW(both_throw(), std::runtime_error);
}

// Whether or not a thief took the child.
TEST_P(fork_test, unwinding_scope_runs_its_children) {
    for (int k = 0; k < 1000; ++k) {
        std::atomic<int> ran{0};
        try {
            auto const child = tulle::fork([&ran] { ++ran; });
            throw k;
        } catch (int) {}
        ASSERT_EQ(ran, 1);
    }
}

struct forks_at_its_end {
    std::atomic<int>& ran;
    ~forks_at_its_end() {
        auto const child = tulle::fork([this] { ++ran; });
    }
};

TEST_P(fork_test, a_destructor_loses_no_work_while_an_exception_unwinds) {
    for (int k = 0; k < 1000; ++k) {
        std::atomic<int> ran{0};
        try {
            forks_at_its_end const last{ran};
            throw k;
        } catch (int) {}
        ASSERT_EQ(ran, 1);
    }
}

// Its own children, which it does not join, included.
TEST_P(fork_test, a_child_that_is_left_by_an_exception_sees_none) {
    for (int k = 0; k < 1000; ++k) {
        std::atomic<int> seen{0}, caught{0};
        try {
            auto const child = tulle::fork([&] {
                if (std::uncaught_exceptions() != 0 || std::current_exception() != nullptr) ++seen;
                try {
                    auto const of_child =
                        tulle::fork([] { throw std::logic_error("the grandchild's"); });
                } catch (std::logic_error const&) {
                    ++caught;
                }
            });
            throw k;
        } catch (int thrown) {
            ASSERT_EQ(thrown, k);
            ASSERT_EQ(std::uncaught_exceptions(), 0);
        }
        ASSERT_EQ(seen, 0);
        ASSERT_EQ(caught, 1);
    }
}

// Nothing tells the child of a destructor, which has not been joined when its scope ends, from one
// that the exception has left behind.
TEST_P(fork_test,
       a_destructor_that_an_exception_runs_gets_the_exceptions_of_children_that_it_joins) {
    struct joins_at_its_end {
        int& joined;
        int& dropped;
        ~joins_at_its_end() {
            try {
                auto child = tulle::fork([] { throw std::logic_error("the child's"); });
                child.join();
            } catch (std::logic_error const&) {
                ++joined;
            }
            try {
                auto const child = tulle::fork([] { throw std::logic_error("the child's"); });
            } catch (std::logic_error const&) {
                --dropped;
            }
            ++dropped;
        }
    };
    for (int k = 0; k < 1000; ++k) {
        int joined = 0, dropped = 0;
        try {
            joins_at_its_end const last{joined, dropped};
            throw k;
        } catch (int) {}
        ASSERT_EQ(joined, 1);
        ASSERT_EQ(dropped, 1);
    }
}

TEST_P(fork_test, a_thread_that_a_destructor_joins_loses_no_work) {
    struct spawns_at_its_end {
        std::atomic<int>& ran;
        ~spawns_at_its_end() {
            tulle::spawn([this] { forks_at_its_end const last{ran}; }).join();
        }
    };
    for (int k = 0; k < 1000; ++k) {
        std::atomic<int> ran{0};
        try {
            spawns_at_its_end const last{ran};
            throw k;
        } catch (int) {}
        ASSERT_EQ(ran, 1);
    }
}

TEST_P(fork_test, parent_sees_what_the_child_wrote) {
    for (int k = 0; k < 1000; ++k) {
        int written = 0;
        auto child = tulle::fork([&written, k] { written = k; });
        tulle::this_thread::yield();
        child.join();
        ASSERT_EQ(written, k);
    }
}

} // namespace

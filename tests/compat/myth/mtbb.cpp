// SPDX-License-Identifier: Apache-2.0
// A program for mtbb, in C++11: groups of tasks, loops and reductions give what serial ones do.
#include "check.h"

#include <mtbb/parallel_for.h>
#include <mtbb/parallel_reduce.h>
#include <mtbb/task_group.h>
#include <mtbb/task_scheduler_init.h>

#include <atomic>
#include <climits>
#include <vector>

namespace {

// A range as TBB has them, with a tag of its own.
struct my_split {};
class range {
public:
    range(long begin, long end, long grain) : m_begin(begin), m_end(end), m_grain(grain) {}
    range(range& other, my_split)
        : m_begin(other.m_begin + (other.m_end - other.m_begin) / 2),
          m_end(other.m_end),
          m_grain(other.m_grain) {
        other.m_end = m_begin;
    }
    long begin() const { return m_begin; }
    long end() const { return m_end; }
    long grainsize() const { return m_grain; }
    bool empty() const { return m_begin >= m_end; }
    bool is_divisible() const { return m_end - m_begin > m_grain; }

private:
    long m_begin, m_end, m_grain;
};

long fib(long n) {
    if (n < 2) return n;
    long a = 0;
    mtbb::task_group group;
    group.run([&a, n] { a = fib(n - 1); });
    long const b = fib(n - 2);
    group.wait();
    return a + b;
}

struct counting_task : mtbb::task {
    explicit counting_task(std::atomic<int>& c) : count(c) {}
    void* execute() {
        ++count;
        return nullptr;
    }
    std::atomic<int>& count;
};

struct large {
    std::atomic<int>* count;
    char filling[1000];
    std::vector<int> destroyed_with_it;
    void operator()() const { *count += static_cast<int>(destroyed_with_it.size()); }
};

void groups() {
    CHECK(fib(16) == 987);
    std::atomic<int> count(0);
    counting_task a(count), b(count), c(count);
    mtbb::task_group group;
    for (int round = 0; round < 3; ++round) {
        group.run_task(&a);
        group.run_task_if(true, &b);
        group.run_task_if(false, &c);
        for (int k = 0; k < 40; ++k) group.run([&count] { ++count; });
        group.run(large{&count, {}, std::vector<int>(10)});
        group.run_if(true, [&count] { ++count; });
        group.run_if(false, [&count] { ++count; });
        group.run_([&count] { ++count; }, __FILE__, __LINE__);
        group.wait_(__FILE__, __LINE__);
        CHECK(count == (round + 1) * 56);
    }
    {
        mtbb::task_group waits_at_its_end;
        waits_at_its_end.run([&count] {
            myth_yield();
            count = 0;
        });
    }
    CHECK(count == 0);
}

struct mark_range {
    std::vector<int>& marks;
    void operator()(range const& r) {
        for (long k = r.begin(); k < r.end(); ++k) ++marks[static_cast<std::size_t>(k)];
    }
};

bool are_all(std::vector<int> const& marks, int wanted) {
    for (int const mark : marks)
        if (mark != wanted) return false;
    return true;
}

// The sum of all i of a serial loop, which stops before it leaves the type.
template <class Index> struct expected {
    long count, sum;
    expected(Index first, Index last, Index step) : count(0), sum(0) {
        for (Index i = first; i < last; i = static_cast<Index>(i + step)) {
            ++count;
            sum += static_cast<long>(i);
            if (last - i <= step) break;
        }
    }
};

template <class Index> void loop_to(Index first, Index last, Index step) {
    expected<Index> const wanted(first, last, step);
    CHECK(wanted.count > 0);
    std::atomic<long> count(0), sum(0);
    auto const add = [&](Index i) {
        ++count;
        sum += static_cast<long>(i);
    };
    mtbb::parallel_for(first, last, step, add);
    CHECK(count == wanted.count && sum == wanted.sum);
    count = sum = 0;
    mtbb::parallel_for(first, last, step, Index(2), [&](Index a, Index b) {
        CHECK(a < b);
        expected<Index> const part(a, b, step);
        CHECK(part.count <= 2);
        count += part.count;
        sum += part.sum;
    });
    CHECK(count == wanted.count && sum == wanted.sum);
}

// Numbers of steps and ends of parts that the type of the index has not.
void loops_to_the_last_index() {
    loop_to(0, INT_MAX, 1 << 28);
    loop_to(INT_MAX - 1, INT_MAX, INT_MAX);
    loop_to<unsigned>(0, UINT_MAX, 1U << 29);
    loop_to<short>(SHRT_MIN, SHRT_MAX, 1000);
    loop_to<unsigned char>(3, UCHAR_MAX, 50);
    std::atomic<int> count(0);
    mtbb::parallel_for(-2000000000, 2000000000, 1000000000, [&count](int) { ++count; });
    CHECK(count == 4);
    mtbb::parallel_for(INT_MIN, INT_MAX, INT_MAX, [&count](int) { ++count; });
    CHECK(count == 7);
    mtbb::parallel_for(LONG_MIN, LONG_MAX, LONG_MAX / 2, [&count](long) { ++count; });
    CHECK(count == 12);
    mtbb::parallel_for(0, 10, -3, [&count](int) { ++count; });
    CHECK(count == 12);
}

void loops() {
    std::vector<int> marks(1000);
    mark_range body{marks};
    mtbb::parallel_for(range(0, 1000, 16), body);
    CHECK(are_all(marks, 1));
    mtbb::parallel_for(range(5, 5, 16), body);
    mtbb::parallel_for(0, 1000, [&marks](int k) { ++marks[static_cast<std::size_t>(k)]; });
    CHECK(are_all(marks, 2));
    mtbb::parallel_for(0L, 1000L, 2L, [&marks](long k) {
        ++marks[static_cast<std::size_t>(k)];
        if (k + 1 < 1000) ++marks[static_cast<std::size_t>(k + 1)];
    });
    CHECK(are_all(marks, 3));
    mtbb::parallel_for(std::size_t(0), std::size_t(1000), std::size_t(1), std::size_t(30),
                       [&marks](std::size_t a, std::size_t b) {
                           for (std::size_t k = a; k < b; ++k) ++marks[k];
                       });
    CHECK(are_all(marks, 4));
    loops_to_the_last_index();
    bool called = false;
    mtbb::parallel_for(3, 3, [&called](int) { called = true; });
    mtbb::parallel_for(5, 3, 1, [&called](int) { called = true; });
    mtbb::parallel_for(5, 3, 1, 4, [&called](int, int) { called = true; });
    CHECK(!called);
    mtbb::parallel_for(0, 3, 1, 0, [&marks](int a, int b) {
        for (int k = a; k < b; ++k) ++marks[static_cast<std::size_t>(k)];
    });
    CHECK(marks[0] == 5 && marks[2] == 5 && marks[3] == 4);
}

// Joined out of order, the first and last would not fit.
struct joined {
    long first, last, sum;
};
struct join_body {
    joined got;
    join_body() : got{-1, -1, 0} {}
    join_body(join_body&, my_split) : got{-1, -1, 0} {}
    void operator()(range const& r) {
        for (long k = r.begin(); k < r.end(); ++k) {
            CHECK(got.first == -1 || got.last + 1 == k);
            if (got.first == -1) got.first = k;
            got.last = k;
            got.sum += k;
        }
    }
    void join(join_body const& right) {
        if (right.got.first == -1) return;
        CHECK(got.last + 1 == right.got.first);
        got.last = right.got.last;
        got.sum += right.got.sum;
    }
};

void reductions() {
    long const sum = mtbb::parallel_reduce(
        range(0, 10000, 64), 0L,
        [](range const& r) {
            long s = 0;
            for (long k = r.begin(); k < r.end(); ++k) s += k;
            return s;
        },
        [](long a, long b) { return a + b; });
    CHECK(sum == 49995000);
    CHECK(mtbb::parallel_reduce(
              range(3, 3, 1), 7L, [](range const&) { return 0L; },
              [](long a, long b) { return a + b; }) == 7);
    join_body body;
    mtbb::parallel_reduce(range(0, 10000, 64), body);
    CHECK(body.got.first == 0 && body.got.last == 9999 && body.got.sum == 49995000);
}

} // namespace

int main() {
    CHECK(mtbb::task_scheduler_init::default_num_threads() >= 1);
    mtbb::task_scheduler_init deferred(mtbb::task_scheduler_init::deferred);
    deferred.initialize(2);
    mtbb::task_scheduler_init init(3, 262144);
    CHECK(init.is_active() && myth_get_num_workers() == 3);
    std::size_t stack = 0;
    CHECK(myth_globalattr_get_stacksize(nullptr, &stack) == 0 && stack == 262144);
    groups();
    loops();
    reductions();
    init.terminate();
    return 0;
}

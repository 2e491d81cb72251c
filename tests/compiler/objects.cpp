// SPDX-License-Identifier: Apache-2.0
// A program in C++ whose objects lie in coherent memory: virtual calls of objects that another
// place has made, whose tables each place has at the same address; exceptions that are thrown,
// caught and unwind while what they look at has to come from elsewhere, in several threads of one
// worker; std::atomic. Two places. Argument: the threads of each place.
#include "check.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include <tulle.h>

namespace {

constexpr int k_shapes = 40, k_units = 60, k_turns = 60, k_most = 4;
constexpr std::size_t k_unit = 4096;

class shape {
public:
    shape() = default;
    shape(shape const&) = delete;
    shape& operator=(shape const&) = delete;
    virtual ~shape() = default;
    [[nodiscard]] virtual long area() const = 0;
    virtual void grow() noexcept = 0;

    char rest[500] = {}; // so that they lie in different lines
};
class square : public shape {
public:
    explicit square(long side) : m_side(side) {}
    [[nodiscard]] long area() const override { return m_side * m_side; }
    void grow() noexcept override { ++m_side; }

protected:
    long m_side;
};
class cube final : public square {
public:
    using square::square;
    [[nodiscard]] long area() const override { return 6 * square::area(); }
};

struct unit {
    long value;
    char rest[k_unit - sizeof(long)];
};
struct shared {
    shape* shapes[k_shapes];
    alignas(64) char memory[k_shapes][sizeof(cube) + 64];
    unit units[k_most][3][k_units]; // of threads
    std::atomic<long> count;
    std::atomic<double> sum;
    std::atomic_flag is_locked;
    long guarded;
    unit before, message, answer; // the other place is their home
    std::atomic<int> has_message, has_answer;
};
shared* s_all;

long area_of(int k, long side) { return (k % 2 == 0 ? 1 : 6) * side * side; }

void make_shapes() {
    for (int k = 0; k < k_shapes; ++k) {
        void* const at = s_all->memory[k];
        s_all->shapes[k] = k % 2 == 0 ? new (at) square(k) : new (at) cube(k);
    }
}
void look_at_shapes(int grown) {
    for (int k = 0; k < k_shapes; ++k) CHECK(s_all->shapes[k]->area() == area_of(k, k + grown));
}

// --- exceptions ----------------------------------------------------------------------------------

class found final : public std::runtime_error {
public:
    explicit found(long what) : std::runtime_error(std::to_string(what)), value(what) {}
    long const value;
};
// Looks at coherent memory while an exception unwinds its frame.
class looks_at_end {
public:
    looks_at_end(unit const& at, long& to) : m_at(at), m_to(to) {}
    looks_at_end(looks_at_end const&) = delete;
    looks_at_end& operator=(looks_at_end const&) = delete;
    ~looks_at_end() {
        m_to = m_at.value;
        CHECK(std::uncaught_exceptions() == 1);
    }

private:
    unit const& m_at;
    long& m_to;
};

__attribute__((noinline)) void throw_what_is_at(unit const& at) { throw found(at.value); }
__attribute__((noinline)) void throw_over(unit const& at, unit const& unwound, long& seen) {
    looks_at_end const last(unwound, seen);
    throw_what_is_at(at);
}

void* throw_all(void* argument) {
    auto* const own = static_cast<unit(*)[k_units]>(argument);
    for (int k = 0; k < k_units; ++k) {
        long seen = -1;
        bool is_caught = false;
        try {
            throw_over(own[0][k], own[1][k], seen);
        } catch (found const& e) {
            CHECK(own[2][k].value == 3L * k + 2); // while it is handled
            CHECK(e.value == 3L * k && std::stol(e.what()) == e.value);
            is_caught = true;
        }
        CHECK(is_caught && seen == 3L * k + 1 && std::uncaught_exceptions() == 0);
    }
    return nullptr;
}
void fill_units() {
    for (auto& of_thread : s_all->units)
        for (int kind = 0; kind < 3; ++kind)
            for (int k = 0; k < k_units; ++k) of_thread[kind][k].value = 3L * k + kind;
}

// --- atomics -------------------------------------------------------------------------------------

void add_up() {
    for (int k = 0; k < k_turns; ++k) {
        s_all->count.fetch_add(2, std::memory_order_relaxed);
        double before = s_all->sum.load();
        while (!s_all->sum.compare_exchange_weak(before, before + 0.5)) continue;
        while (s_all->is_locked.test_and_set(std::memory_order_acquire)) tulle_yield();
        ++s_all->guarded;
        s_all->is_locked.clear(std::memory_order_release);
    }
}
void send(long what, unit& to, std::atomic<int>& told) {
    to.value = what;
    told.store(1, std::memory_order_release);
}
void receive(long what, unit const& from, std::atomic<int> const& told) {
    while (told.load(std::memory_order_acquire) == 0) tulle_yield();
    CHECK(from.value == what);
}

// --- the program ---------------------------------------------------------------------------------

void enter(void const* memory) {
    s_all = *static_cast<shared* const*>(memory);
    tulle_coherent_acquire();
}
void begin_at_other(void const* memory, std::size_t /*size*/) {
    enter(memory);
    make_shapes();
    fill_units();
    s_all->message.value = s_all->answer.value = 5;
    tulle_coherent_release();
}
void compute_at_other(void const* memory, std::size_t /*size*/) {
    enter(memory);
    look_at_shapes(1);
    receive(77, s_all->message, s_all->has_message);
    send(78, s_all->answer, s_all->has_answer);
    add_up();
    tulle_coherent_release();
}
template <tulle_activity_function_t* Function>
void start_at_other(tulle_activities_t* all, void* memory) {
    CHECK(tulle_async_at(all, 1, Function, memory, sizeof(void*)) == 0);
}
void compute_at_both(tulle_activities_t* all, void* memory) {
    CHECK(s_all->answer.value == 5); // of which this place has a copy then
    start_at_other<&compute_at_other>(all, memory);
    send(77, s_all->message, s_all->has_message);
    receive(78, s_all->answer, s_all->has_answer);
    add_up();
}

void throw_in_threads(int threads) {
    tulle_thread* each[k_most] = {};
    for (int k = 0; k < threads; ++k)
        CHECK(tulle_spawn(&each[k], nullptr, throw_all, s_all->units[k]) == 0);
    for (int k = 0; k < threads; ++k) CHECK(tulle_thread_join(each[k], nullptr) == 0);
}

} // namespace

int main(int argc, char** argv) {
    int const threads = argc > 1 ? std::atoi(argv[1]) : 1;
    void* memory = nullptr;
    CHECK(threads >= 1 && threads <= k_most && tulle_place_count() == 2);
    CHECK(tulle_coherent_begin() == 0);
    CHECK(tulle_coherent_malloc(&memory, sizeof(shared)) == 0);
    s_all = new (memory) shared{};
    tulle_coherent_share();
    tulle_coherent_release();
    CHECK(tulle_finish(start_at_other<&begin_at_other>, &memory) == 0);
    tulle_coherent_acquire();
    throw_in_threads(threads);
    look_at_shapes(0);
    for (shape* const each : s_all->shapes) each->grow();
    tulle_coherent_release();
    CHECK(tulle_finish(compute_at_both, &memory) == 0);
    tulle_coherent_acquire();
    CHECK(s_all->count == 4 * k_turns && s_all->sum == k_turns && s_all->guarded == 2 * k_turns);
    for (shape* const each : s_all->shapes) each->~shape();
    return 0;
}

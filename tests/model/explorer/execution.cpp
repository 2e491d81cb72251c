// SPDX-License-Identifier: Apache-2.0
#include "execution.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <span>

namespace tulle::model {

namespace {

thread_local execution* t_current = nullptr;

[[noreturn]] void misused(char const* message) {
    std::fprintf(stderr, "tulle model: %s\n", message);
    std::abort();
}

std::string place_of(execution::where const& at) {
    return std::string(file_name(at)) + ":" + std::to_string(at.line());
}

// What failed executions leave behind: stacks in the middle of a function, and objects in the
// middle of a protocol, whose destructors must not run. Reachable, so that no leak is reported.
struct remains {
    std::unique_ptr<fibre> stack;
    std::function<void()> body;
    std::vector<std::shared_ptr<void>> objects;
    std::vector<std::function<void()>> checks;
};
std::vector<remains>& graveyard() {
    static auto* const graves = new std::vector<remains>;
    return *graves;
}

} // namespace

void test::thread(std::function<void()> body) {
    execution& e = m_execution;
    if (e.m_count == k_max_threads) misused("a test has more than 7 threads");
    if (e.m_count == e.m_threads.size()) e.m_threads.emplace_back();
    e.m_threads[e.m_count++].body = std::move(body);
}

void test::at_end(std::function<void()> check) { m_execution.m_checks.push_back(std::move(check)); }

void test::keep(std::shared_ptr<void> object) {
    m_execution.m_objects.push_back(std::move(object));
}

execution::execution(limits const& l, site_book& sites) : m_limits(l), m_sites(sites) {
    constexpr std::size_t k_most_steps = 60000; // ticks and stamps have 16 bits
    m_limits.steps = std::min(m_limits.steps, k_most_steps);
    m_threads.reserve(k_max_threads);
}

execution::~execution() = default;

execution& execution::current() noexcept {
    if (t_current == nullptr) misused("an atomic of the model is used outside explore()");
    return *t_current;
}

bool execution::is_running() noexcept { return t_current != nullptr; }

// -- one execution

bool execution::run(test_body const& body, strategy& decide) {
    if (t_current != nullptr) misused("explore() is called inside a test body");
    t_current = this;
    m_strategy = &decide;
    reset();
    m_threads[0].body = [this, &body] { run_main(body); };
    switch_to_thread(0);
    if (m_failed) abandon();
    t_current = nullptr;
    return !m_failed;
}

void execution::reset() {
    m_memory.reset(m_limits.stale_repeats);
    if (m_threads.empty()) m_threads.emplace_back();
    m_count = 1;
    m_concurrent = m_failed = false;
    m_preemptions_left = m_limits.preemptions;
    m_spurious_left = m_limits.spurious_failures;
    m_timeouts_left = m_limits.early_timeouts;
    m_steps = 0;
    m_taken.clear();
    m_sleepers.clear();
    m_trace.clear();
    m_running = k_max_threads; // the driver
}

void execution::abandon() {
    for (std::size_t i = 0; i < m_count; ++i) {
        simulated_thread& t = m_threads[i];
        graveyard().push_back(
            {std::move(t.stack), std::move(t.body), std::move(m_objects), std::move(m_checks)});
        t.body = nullptr;
        m_objects.clear();
        m_checks.clear();
    }
}

void execution::run_main(test_body const& body) {
    test setup(*this);
    body(setup);
    run_threads();
    for (std::size_t i = 0; i < m_checks.size(); ++i) m_checks[i]();
    m_checks.clear();
    for (std::size_t i = 1; i < m_count; ++i) m_threads[i].body = nullptr;
    while (!m_objects.empty()) m_objects.pop_back();
}

// Thread 0 starts the others and sleeps until the last of them has ended.
void execution::run_threads() {
    if (m_count == 1) return;
    for (std::size_t i = 1; i < m_count; ++i) {
        simulated_thread& t = m_threads[i];
        t.state = run_state::runnable;
        t.at_access = true; // the choice to start it counts for its first access
        t.gives_way_to = 0;
        m_memory.start_thread(static_cast<thread_index>(i));
    }
    m_threads[0].state = run_state::asleep;
    m_concurrent = true;
    switch_to_thread(pick_next(false));
    for (std::size_t i = 1; i < m_count; ++i) m_memory.join_thread(static_cast<thread_index>(i));
}

void execution::thread_loop() {
    for (;;) {
        t_current->run_body();
        t_current->end_thread();
    }
}

void execution::run_body() {
    std::string error;
    try {
        m_threads[m_running].body();
        return;
    } catch (std::exception const& e) {
        error = e.what();
    } catch (...) {
        error = "of unknown type";
    }
    fail("thread " + std::to_string(m_running) + " ended by an exception: " + error);
}

void execution::end_thread() {
    if (m_running == 0) return switch_to_thread(k_max_threads);
    made_progress();
    m_threads[m_running].state = run_state::finished;
    bool over = true;
    for (std::size_t i = 1; i < m_count; ++i)
        over = over && m_threads[i].state == run_state::finished;
    if (over) m_concurrent = false;
    switch_to_thread(over ? thread_index{0} : pick_next(false));
}

// k_max_threads stands for the driver, outside all simulated threads.
void execution::switch_to_thread(thread_index next) noexcept {
    if (next == m_running) return;
    fibre& from = m_running == k_max_threads ? m_driver : *m_threads[m_running].stack;
    if (next != k_max_threads && !m_threads[next].stack)
        m_threads[next].stack = std::make_unique<fibre>(&thread_loop);
    m_running = next;
    fibre::switch_to(from, next == k_max_threads ? m_driver : *m_threads[next].stack);
}

void execution::fail(std::string message) {
    if (m_running == k_max_threads) misused(message.c_str());
    m_message = std::move(message);
    m_failed = true;
    switch_to_thread(k_max_threads);
    std::abort(); // an abandoned stack is never switched to
}

void execution::fail_at(std::string const& message, where const& at) {
    fail(message + " (thread " + std::to_string(m_running) + ", " + place_of(at) + ")");
}

// -- scheduling

unsigned execution::runnable() const noexcept {
    unsigned mask = 0;
    for (std::size_t i = 1; i < m_count; ++i) {
        if (m_threads[i].state == run_state::runnable) mask |= 1U << i;
    }
    return mask;
}

bool execution::is_eligible(thread_index t, unsigned runnable_now) const noexcept {
    return (runnable_now >> t & 1U) != 0 && (m_threads[t].gives_way_to & runnable_now) == 0;
}

// A thread that gave way to this one may go on.
void execution::made_progress() noexcept {
    for (std::size_t i = 1; i < m_count; ++i) m_threads[i].gives_way_to &= ~(1U << m_running);
}

void execution::count_step() {
    if (++m_steps > m_limits.steps) {
        fail("no end after " + std::to_string(m_limits.steps) +
             " steps: a livelock, or a spin loop without pause()");
    }
    made_progress();
}

// The running thread is about to access shared memory: it, or another one first?
void execution::step() {
    if (!m_concurrent) return;
    count_step();
    if (m_threads[m_running].at_access) {
        m_threads[m_running].at_access = false;
        return;
    }
    switch_to_thread(pick_next(true));
}

std::uint8_t execution::record(std::size_t chosen) {
    m_taken.push_back(static_cast<std::uint8_t>(chosen));
    return m_taken.back();
}

bool execution::may_time_out(thread_index t) const noexcept {
    return m_threads[t].state == run_state::asleep && m_threads[t].timed;
}

thread_index execution::pick_next(bool may_stay) {
    unsigned const now = runnable();
    std::array<thread_index, k_max_threads> candidates{};
    std::size_t count = 0;
    auto const add = [&](auto is_candidate) {
        for (thread_index t = 1; t < m_count; ++t) {
            if (is_candidate(t)) candidates[count++] = t;
        }
    };
    if (may_stay) candidates[count++] = m_running;
    if (!may_stay || m_preemptions_left > 0) {
        add([&](thread_index t) { return is_eligible(t, now) && !(may_stay && t == m_running); });
        if (m_timeouts_left > 0 || count == 0) add([&](thread_index t) { return may_time_out(t); });
    }
    if (count == 0) fail("deadlock: " + describe_sleepers());
    std::size_t chosen = 0;
    if (count > 1)
        chosen = record(m_strategy->choose_thread(std::span(candidates).first(count), may_stay));
    if (may_stay && chosen != 0) --m_preemptions_left;
    if (may_time_out(candidates[chosen])) {
        if (m_timeouts_left > 0) --m_timeouts_left;
        end_sleep(candidates[chosen], true);
    }
    return candidates[chosen];
}

std::size_t execution::choose_value(std::size_t alternatives) {
    return alternatives < 2 ? 0 : record(m_strategy->choose_value(alternatives));
}

// The running thread cannot or will not go on; returns when it is picked again.
void execution::leave() {
    m_threads[m_running].at_access = true;
    switch_to_thread(pick_next(false));
}

void execution::spin_hint() {
    if (!m_concurrent) return;
    count_step();
    simulated_thread& me = m_threads[m_running];
    me.gives_way_to = runnable() & ~(1U << m_running);
    if (me.gives_way_to == 0) return;
    m_strategy->gave_way(m_running);
    if (m_tracing) m_trace += "  " + std::to_string(m_running) + ": pause\n";
    leave();
}

std::string execution::describe_sleepers() const {
    std::string text = "all threads sleep";
    for (thread_index const t : m_sleepers) {
        text += "; thread " + std::to_string(t) + " on location " +
                std::to_string(m_threads[t].asleep_on) + " (now " +
                std::to_string(m_memory.newest(m_threads[t].asleep_on)) + ")";
    }
    return text;
}

// -- memory

memory_order execution::begin_access(location_index l, access_kind kind, memory_order o,
                                     where const& at) {
    step();
    if (!m_memory.exists(l)) fail_at("access to an atomic that does not exist", at);
    if (!m_memory.is_constructed(m_running, l))
        fail_at("data race: access to an atomic whose construction is not visible", at);
    return m_sites.pass(at, kind, o);
}

location_index execution::create(std::uint64_t initial) {
    location_index const l = m_memory.create(m_running, initial);
    if (l == memory::k_no_location) misused("a test makes more than 152 atomics");
    return l;
}

void execution::destroy(location_index l, where const& at) {
    if (!m_memory.is_quiet(m_running, l))
        fail_at("data race: an atomic is destroyed while others may access it", at);
    m_memory.destroy(l);
}

std::uint64_t execution::load(location_index l, memory_order o, where const& at) {
    o = begin_access(l, access_kind::load, o, at);
    std::uint64_t const value = m_memory.load(m_running, l, o);
    if (m_tracing) note("load", l, o, value, at);
    return value;
}

void execution::store(location_index l, std::uint64_t value, memory_order o, where const& at) {
    o = begin_access(l, access_kind::store, o, at);
    m_memory.store(m_running, l, value, o);
    if (m_tracing) note("store", l, o, value, at);
}

memory::exchanged execution::compare_exchange(location_index l, memory::exchange_request request,
                                              where const& at) {
    memory_order const written = request.success;
    request.success = begin_access(l, access_kind::read_modify_write, written, at);
    bool const weakened = request.success != written;
    if (weakened && !is_acquire(request.success)) request.failure = std::memory_order_relaxed;
    request.may_fail = request.may_fail && m_spurious_left > 0 && m_concurrent;
    memory::exchanged const result = m_memory.compare_exchange(m_running, l, request);
    if (!result.done && result.seen == request.expected) --m_spurious_left;
    if (m_tracing)
        note(result.done ? "exchange" : "exchange fails", l, request.success, result.seen, at);
    return result;
}

void execution::fence(memory_order o, where const& at) {
    if (o == std::memory_order_seq_cst) step(); // the weaker ones concern this thread only
    o = m_sites.pass(at, access_kind::fence, o);
    m_memory.fence(m_running, o);
    if (m_tracing) note_line(std::string("fence ") + name_of(o), at);
}

// Processors are interrupted one after the other, and the rest goes on meanwhile. The caller waits
// for each, so all that it did before happens before what they do from then on, and the other way
// round.
void execution::heavy_fence(where const& at) {
    if (!m_limits.has_heavy_fence) fail_at("a heavy fence where there is none", at);
    step();
    if (m_sites.pass(at, access_kind::heavy_fence, std::memory_order_seq_cst) ==
        std::memory_order_relaxed)
        return;
    thread_index const me = m_running;
    m_memory.fence(me, std::memory_order_seq_cst);
    view const sent = m_memory.knowledge(me);
    for (thread_index t = 1; t < m_count; ++t) {
        if (t == me) continue;
        // What has ended is visible, too: its processor went on.
        if (m_threads[t].state != run_state::finished) step();
        m_memory.interrupt(me, t, sent);
        if (m_tracing) note_line("heavy fence on thread " + std::to_string(t), at);
    }
    m_memory.fence(me, std::memory_order_seq_cst);
}

// Races show whatever the order; a switch is possible here because a heavy fence may hit between
// two plain accesses.
void execution::plain_read(access_record& a, where const& at) {
    if (m_limits.has_heavy_fence) step();
    if (m_tracing) note_line("plain read", at);
    if (!m_memory.plain_read(m_running, a)) fail_at("data race: a plain read beside a write", at);
}

void execution::plain_write(access_record& a, where const& at) {
    if (m_limits.has_heavy_fence) step();
    if (m_tracing) note_line("plain write", at);
    if (!m_memory.plain_write(m_running, a))
        fail_at("data race: a plain write beside another access", at);
}

// -- futex

// Going to sleep and waking are ordered globally, as by the kernel's lock on the wait queue;
// neither makes anything else happen before anything.
bool execution::futex_wait(location_index l, std::uint32_t expected, bool timed, where const& at) {
    (void)begin_access(l, access_kind::load, std::memory_order_relaxed, at);
    m_memory.order_globally(m_running);
    std::uint64_t const value = m_memory.load(m_running, l, std::memory_order_relaxed);
    if (m_tracing) note("futex wait", l, std::memory_order_relaxed, value, at);
    if (value != expected) return true;
    if (m_spurious_left > 0 && choose_value(2) == 1) {
        --m_spurious_left;
        return true;
    }
    if (!m_concurrent) fail_at("deadlock: thread 0 sleeps while no other runs", at);
    simulated_thread& me = m_threads[m_running];
    me.state = run_state::asleep;
    me.asleep_on = l;
    me.timed = timed;
    m_sleepers.push_back(m_running);
    leave();
    if (m_tracing) note_line(me.timed_out ? "futex wait times out" : "futex wait is woken", at);
    return !me.timed_out;
}

void execution::end_sleep(thread_index t, bool timed_out) {
    m_threads[t].state = run_state::runnable;
    m_threads[t].timed_out = timed_out;
    m_sleepers.erase(std::find(m_sleepers.begin(), m_sleepers.end(), t));
}

void execution::futex_wake(location_index l, int count, where const& at) {
    step();
    m_memory.order_globally(m_running);
    for (int woken = 0; woken < count; ++woken) {
        auto const sleeps_there = [this, l](thread_index t) { return m_threads[t].asleep_on == l; };
        auto const first = std::find_if(m_sleepers.begin(), m_sleepers.end(), sleeps_there);
        if (first == m_sleepers.end()) break;
        if (m_tracing) note_line("futex wake of thread " + std::to_string(*first), at);
        end_sleep(*first, false);
    }
}

// -- trace

void execution::note(char const* what, location_index l, memory_order o, std::uint64_t value,
                     where const& at) {
    note_line(std::string(what) + " " + name_of(o) + " location " + std::to_string(l) + " = " +
                  std::to_string(value),
              at);
}

void execution::note_line(std::string const& line, where const& at) {
    m_trace += "  " + std::to_string(m_running) + ": " + line + "  (" + place_of(at) + ")\n";
}

} // namespace tulle::model

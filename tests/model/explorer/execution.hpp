// SPDX-License-Identifier: Apache-2.0
//
// One execution of a test body after the other: simulated threads on fibres, a switch possible
// before each access to shared memory, every open decision asked of a strategy and recorded. The
// types of atomic.hpp end up here.
// One OS thread only; current() is the execution that runs on it.
#pragma once

#include "choice.hpp"
#include "fibre.hpp"
#include "memory.hpp"
#include "mutation.hpp"
#include "source_location.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tulle::model {

class execution;

struct limits {
    std::size_t steps = 10000;      // more are reported as a livelock
    unsigned preemptions = ~0U;     // switches away from a thread that could have gone on
    unsigned stale_repeats = 2;     // how often in a row a thread may load the same outdated store
    unsigned spurious_failures = 1; // of weak compare-exchange and of futex waits, per execution
    // Of waits with a deadline, while others could still go on, per execution.
    unsigned early_timeouts = 1;
    // False: a call of heavy_fence() fails the execution. Then no switch comes before a plain
    // access either, which shortens the search: races show all the same, and nothing but a heavy
    // fence tells the difference.
    bool has_heavy_fence = true;
};

/// What a test body gets: it makes the shared state and names the threads; they start when it
/// returns.
class test {
public:
    explicit test(execution& e) noexcept : m_execution(e) {}

    /// An object of this execution, destroyed after the last at_end.
    template <class T, class... Args> T& make(Args&&... args) {
        auto owned = std::make_shared<T>(std::forward<Args>(args)...);
        T& object = *owned;
        keep(std::move(owned));
        return object;
    }
    void thread(std::function<void()> body);
    /// Runs after all threads have ended, and after all that they did.
    void at_end(std::function<void()> check);

private:
    void keep(std::shared_ptr<void> object);
    execution& m_execution;
};

using test_body = std::function<void(test&)>;

class execution final : private chooser {
public:
    using where = source_location;

    execution(limits const& l, site_book& sites);
    ~execution();
    execution(execution const&) = delete;
    execution& operator=(execution const&) = delete;

    /// Runs the body once. False: it failed, and message() says how.
    [[nodiscard]] bool run(test_body const& body, strategy& decide);
    [[nodiscard]] std::string const& message() const noexcept { return m_message; }
    [[nodiscard]] choices const& taken() const noexcept { return m_taken; }
    [[nodiscard]] std::size_t steps() const noexcept { return m_steps; }
    /// From now on, each step is written to trace().
    void start_trace() noexcept { m_tracing = true; }
    [[nodiscard]] std::string const& trace() const noexcept { return m_trace; }

    /// Never null: without an execution it ends the process.
    [[nodiscard]] static execution& current() noexcept;
    [[nodiscard]] static bool is_running() noexcept;

    // -- from the simulated threads
    [[nodiscard]] location_index create(std::uint64_t initial);
    void destroy(location_index l, where const& at);
    [[nodiscard]] std::uint64_t load(location_index l, memory_order o, where const& at);
    void store(location_index l, std::uint64_t value, memory_order o, where const& at);
    /// Returns the old value; `change` computes the new one from it.
    template <class Change>
    std::uint64_t modify(location_index l, Change change, memory_order o, where const& at) {
        o = begin_access(l, access_kind::read_modify_write, o, at);
        std::uint64_t const old = m_memory.newest(l);
        m_memory.finish_rmw(m_running, l, change(old), o);
        if (m_tracing) note("modify", l, o, old, at);
        return old;
    }
    [[nodiscard]] memory::exchanged
    compare_exchange(location_index l, memory::exchange_request request, where const& at);
    void fence(memory_order o, where const& at);
    void heavy_fence(where const& at);
    void plain_read(access_record& a, where const& at);
    void plain_write(access_record& a, where const& at);
    void spin_hint();
    /// False: the time is up, which may be at any moment.
    bool futex_wait(location_index l, std::uint32_t expected, bool timed, where const& at);
    void futex_wake(location_index l, int count, where const& at);
    [[noreturn]] void fail(std::string message);
    [[noreturn]] void fail_at(std::string const& message, where const& at);
    [[nodiscard]] thread_index running() const noexcept { return m_running; }
    [[nodiscard]] bool has_heavy_fence() const noexcept { return m_limits.has_heavy_fence; }

private:
    friend class test;
    enum class run_state : std::uint8_t { absent, runnable, asleep, finished };
    struct simulated_thread {
        std::unique_ptr<fibre> stack;
        std::function<void()> body;
        run_state state = run_state::absent;
        bool at_access = false;    // switched away just before an access: the choice for it is made
        unsigned gives_way_to = 0; // bit per thread that must make a step before this one goes on
        location_index asleep_on = 0;
        bool timed = false;     // asleep until a deadline at most
        bool timed_out = false; // why it is awake
    };

    std::size_t choose_value(std::size_t alternatives) override;
    [[nodiscard]] memory_order begin_access(location_index l, access_kind kind, memory_order o,
                                            where const& at);
    void step();
    void count_step();
    void made_progress() noexcept;
    [[nodiscard]] unsigned runnable() const noexcept;
    [[nodiscard]] bool is_eligible(thread_index t, unsigned runnable_now) const noexcept;
    [[nodiscard]] bool may_time_out(thread_index t) const noexcept;
    void end_sleep(thread_index t, bool timed_out);
    [[nodiscard]] thread_index pick_next(bool may_stay);
    std::uint8_t record(std::size_t chosen);
    void switch_to_thread(thread_index next) noexcept;
    void leave();
    void run_threads();
    void run_main(test_body const& body);
    void run_body();
    void end_thread();
    void reset();
    void abandon();
    static void thread_loop();
    void note(char const* what, location_index l, memory_order o, std::uint64_t value,
              where const& at);
    void note_line(std::string const& line, where const& at);
    [[nodiscard]] std::string describe_sleepers() const;

    limits m_limits;
    site_book& m_sites;
    memory m_memory{*this};
    strategy* m_strategy = nullptr;
    fibre m_driver;
    std::vector<simulated_thread> m_threads;
    std::size_t m_count = 0; // threads of this execution, 0 included
    thread_index m_running = 0;
    bool m_concurrent = false; // false while thread 0 sets up or checks
    bool m_failed = false;
    unsigned m_preemptions_left = 0;
    unsigned m_spurious_left = 0;
    unsigned m_timeouts_left = 0;
    std::size_t m_steps = 0;
    choices m_taken;
    std::vector<thread_index> m_sleepers; // in the order in which they fell asleep
    std::vector<std::shared_ptr<void>> m_objects;
    std::vector<std::function<void()>> m_checks;
    std::string m_message;
    bool m_tracing = false;
    std::string m_trace;
};

} // namespace tulle::model

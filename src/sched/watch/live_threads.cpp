// SPDX-License-Identifier: Apache-2.0
#include "sched/watch/live_threads.hpp"

#include "sched/values/names.hpp"
#include "sched/watch/census.hpp"

#include <algorithm>
#include <vector>

namespace tulle::sched {

namespace {

constexpr std::size_t k_most_listed = 16;

struct live_thread {
    thread_id id;
    int worker; // on which it runs; -1: it waits, or is ready
};

struct tour {
    tour() { threads.reserve(k_most_listed); }

    std::vector<live_thread> threads; // the first few
    std::int64_t started = 0;
};

// Allocates nothing: the pool is locked.
void add(tour& t, thread_id id, int worker) noexcept {
    if (t.threads.size() < k_most_listed) t.threads.push_back({id, worker});
}

// On the stack of the thread that initialised, that thread is the outermost one, and none that the
// program has made.
void count(void* on_tour, thread_view const& seen) noexcept {
    auto& t = *static_cast<tour*>(on_tour);
    std::size_t const not_made = seen.stack_kind == fiber_kind::adopted ? 1 : 0;
    if (seen.stack_kind == fiber_kind::guest || seen.nested <= not_made) return;
    std::size_t const made = seen.nested - not_made;
    t.started += static_cast<std::int64_t>(made);
    add(t, seen.id, seen.worker);
    for (std::size_t k = 0; k < std::min(made - 1, seen.outer_count); ++k)
        add(t, seen.outer[k], seen.worker);
}

std::string describe(live_thread const& t) {
    std::string text = "thread " + std::to_string(t.id);
    std::string const name = find_name(t.id);
    if (!name.empty()) text += " '" + name + "'";
    return text + (t.worker < 0 ? " waits or is ready" : " on worker " + std::to_string(t.worker));
}

std::string counted(std::int64_t count, char const* rest) {
    return std::to_string(count) + (count == 1 ? " thread " : " threads ") + rest;
}

void list(tour& t, std::vector<std::string>& parts) {
    std::sort(t.threads.begin(), t.threads.end(),
              [](auto const& a, auto const& b) { return a.id < b.id; });
    for (live_thread const& thread : t.threads) parts.push_back(describe(thread));
    std::int64_t const more = t.started - static_cast<std::int64_t>(t.threads.size());
    if (more > 0) parts.push_back(counted(more, "more"));
}

} // namespace

std::string describe_live_threads(scheduler& s) {
    std::int64_t const alive = s.live_threads();
    if (alive == 0)
        return "no threads are alive; the caller may have forked children that it has not joined";
    tour t;
    census(s).visit(&count, &t);
    std::vector<std::string> parts;
    list(t, parts);
    std::int64_t const unstarted = alive - t.started;
    if (unstarted > 0)
        parts.push_back(
            counted(unstarted, unstarted == 1 ? "has not started" : "have not started"));
    std::string text = counted(alive, alive == 1 ? "is alive" : "are alive");
    for (std::string const& part : parts) text += (&part == &parts.front() ? ": " : "; ") + part;
    return text;
}

} // namespace tulle::sched

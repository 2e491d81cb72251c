// SPDX-License-Identifier: Apache-2.0
#include "sched/live_threads.hpp"

#include "base/sanitize.hpp"
#include "sched/names.hpp"

#include <algorithm>
#include <vector>

namespace tulle::sched {

namespace {

constexpr std::size_t k_most_listed = 16;
constexpr int k_most_frames = 64; // on one stack; more are not looked at

struct seen_thread {
    thread_id id;
    int worker; // on which it runs; -1: it waits, or is ready
};

struct tour {
    explicit tour(scheduler const& s) : of(s) { threads.reserve(k_most_listed); }

    scheduler const& of;
    std::vector<seen_thread> threads; // the first few
    std::int64_t started = 0;
};

TULLE_NO_SANITIZE bool runs(worker const& w, fiber const& f) noexcept { return w.current == &f; }

int worker_of(scheduler const& s, fiber const& f) noexcept {
    for (auto const& w : s.workers()) {
        if (runs(*w, f)) return w->index;
    }
    return -1;
}

// A frame that ends meanwhile lies in memory that stays.
TULLE_NO_SANITIZE int copy_ids(fiber const& f, thread_frame const* root, thread_id* ids) noexcept {
    int count = 0;
    for (thread_frame const* t = f.frame; t != nullptr && t != root && count < k_most_frames; t = t->outer) ids[count++] = t->id;
    return count;
}

// Allocates nothing: the pool is locked.
void look_at(tour& t, fiber const& f, thread_frame const* root) noexcept {
    thread_id ids[k_most_frames];
    int const count = copy_ids(f, root, ids);
    int const worker = count == 0 ? -1 : worker_of(t.of, f);
    t.started += count;
    for (int k = 0; k < count && t.threads.size() < k_most_listed; ++k) t.threads.push_back({ids[k], worker});
}

void look_at_pooled(void* on_tour, stack::span where) noexcept { look_at(*static_cast<tour*>(on_tour), fiber_of(where), nullptr); }

std::string describe(seen_thread const& t) {
    std::string text = "thread " + std::to_string(t.id);
    std::string const name = find_name(t.id);
    if (!name.empty()) text += " '" + name + "'";
    return text + (t.worker < 0 ? " waits or is ready" : " on worker " + std::to_string(t.worker));
}

std::string counted(std::int64_t count, char const* rest) { return std::to_string(count) + (count == 1 ? " thread " : " threads ") + rest; }

void list(tour& t, std::vector<std::string>& parts) {
    std::sort(t.threads.begin(), t.threads.end(), [](auto const& a, auto const& b) { return a.id < b.id; });
    for (seen_thread const& thread : t.threads) parts.push_back(describe(thread));
    std::int64_t const more = t.started - static_cast<std::int64_t>(t.threads.size());
    if (more > 0) parts.push_back(counted(more, "more"));
}

} // namespace

std::string describe_live_threads(scheduler& s) {
    std::int64_t const alive = s.live_threads();
    if (alive == 0) return "no threads are alive; the caller may have forked children that it has not joined";
    tour t(s);
    look_at(t, s.adopted(), &s.adopted_frame());
    s.stacks().visit(&look_at_pooled, &t);
    std::vector<std::string> parts;
    list(t, parts);
    std::int64_t const unstarted = alive - t.started;
    if (unstarted > 0) parts.push_back(counted(unstarted, unstarted == 1 ? "has not started" : "have not started"));
    std::string text = counted(alive, alive == 1 ? "is alive" : "are alive");
    for (std::string const& part : parts) text += (&part == &parts.front() ? ": " : "; ") + part;
    return text;
}

} // namespace tulle::sched

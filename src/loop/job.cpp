// SPDX-License-Identifier: Apache-2.0
#include "loop/job.hpp"

#include "os/clock.hpp"
#include "sched/modes/deterministic.hpp"

#include <tulle/detail/caught_exception.hpp>
#include <tulle/schedule_point.hpp>

#include <algorithm>
#include <mutex>
#include <utility>

namespace tulle::loop {

namespace {

constexpr std::uint64_t k_brief_ns = 4'000; // a chunk that takes less is followed by a larger one
constexpr std::uint64_t k_long_ns = 16'000; // and one that takes longer, by a smaller one
constexpr std::uint64_t k_guided_share = 4; // of what is left: a guided chunk
// So many more of the present size are run before the clock is read again.
constexpr std::uint64_t k_few_chunks = 8;
// Rounds before a fence is paid: until an owner that runs has used up its own part.
constexpr int k_patience = 128;
constexpr int k_rounds_per_yield = 64;

// Called between two rounds of a search for something to steal. The owner may have been preempted.
void pause_a_little(int round) noexcept {
    if (round % k_rounds_per_yield == k_rounds_per_yield - 1) return os::machine::yield_processor();
    for (int k = 0; k < 4; ++k) os::machine::pause();
}

} // namespace

job::job(detail::loop_body const& body, void* context, std::uint64_t count,
         loop_options const& options, bool asymmetric, std::uint64_t width) noexcept
    : m_body(body),
      m_context(context),
      m_count(options.how.kind() == detail::schedule_kind::even ? std::min(count, width) : count),
      m_iterations(count),
      m_kind(options.how.kind()),
      m_chunk(std::min(options.how.chunk(), count)),
      m_until(options.until),
      m_asymmetric(asymmetric),
      m_width(width) {}

bool job::run() {
    take_part({0, m_count});
    if (m_exception != nullptr) std::rethrow_exception(std::exchange(m_exception, nullptr));
    return !m_participants.has_ended_early();
}

void job::help() noexcept {
    iterations const found = steal();
    if (!found.empty()) take_part(found);
}

// While iterations are left, each participant has an invitation out, so that a worker whose thread
// waits in an iteration can come in anew.
void job::take_part(iterations first) noexcept {
    participant self(m_asymmetric, m_chunk);
    m_participants.enter(self);
    // This comes before the invitations: a thread that comes in by one shall find the range.
    bool some = m_participants.begin(self, first);
    for (std::uint64_t k = 0; k < invitations_of(self); ++k) self.out[k].emplace(*this);
    try {
        for (; some; some = m_participants.begin(self, steal())) run_range(self);
    } catch (...) {
        fail(detail::caught_exception());
    }
    m_participants.leave(self);
    for (auto last = self.out.rbegin(); last != self.out.rend(); ++last) last->reset();
}

// The participants invite as the nodes of a binary tree do that has as many nodes as there are
// workers; and each invites one more, for those whose iterations wait.
std::uint64_t job::invitations_of(participant const& self) const noexcept {
    return 2 * self.number + 2 < m_width ? 2 : 1;
}

void job::fail(std::exception_ptr thrown) noexcept {
    {
        std::lock_guard const held(m_exception_lock);
        if (m_exception == nullptr) m_exception.swap(thrown);
    }
    m_participants.end_early();
}

// --- stealing ------------------------------------------------------------------------------------

iterations job::steal() noexcept {
    int const patience = m_width > 1 && m_asymmetric ? k_patience : 0;
    for (int round = 0;; ++round) {
        bool some_left = false;
        iterations const found = m_participants.steal(
            round < patience ? steal_effort::shared_only : steal_effort::with_fence, some_left);
        if (!found.empty() || !some_left) return found;
        pause_a_little(round);
    }
}

// --- running -------------------------------------------------------------------------------------

void job::run_range(participant& self) {
    using enum detail::schedule_kind;
    bool const by_seed = sched::this_run() != nullptr; // what the clock says must not count
    if (m_kind == automatic && !by_seed) return run_by_clock(self);
    if (m_kind == dynamic && !m_until.is_possible() && !by_seed) return run_batches(self);
    while (run_next(self, chunk_of(self))) {}
}

std::uint64_t job::chunk_of(participant const& self) const noexcept {
    if (m_kind == detail::schedule_kind::guided)
        return std::max(m_chunk, self.range.size_hint() / k_guided_share);
    return self.chunk;
}

// False: there are no more.
bool job::run_next(participant& self, std::uint64_t count) {
    if (m_until.is_possible() && m_until.is_requested()) m_participants.end_early();
    std::uint64_t const first = self.range.begun();
    std::uint64_t const last = self.range.take_cold(first, count);
    if (last != first) run_chunk(first, last);
    return last != first;
}

std::uint64_t job::part_begin(std::uint64_t part) const noexcept {
    return m_iterations / m_count * part + std::min(part, m_iterations % m_count);
}

void job::run_chunk(std::uint64_t begin, std::uint64_t end) {
    schedule_point();
    if (m_kind != detail::schedule_kind::even) return m_body.run(m_context, begin, end);
    for (std::uint64_t part = begin; part != end; ++part)
        m_body.run(m_context, part_begin(part), part_begin(part + 1));
}

// Doubles a chunk that the clock calls brief.
std::uint64_t job::adapt(std::uint64_t count, std::uint64_t elapsed_ns) const noexcept {
    if (elapsed_ns < k_brief_ns) return count < m_count / 2 ? count * 2 : m_count;
    return elapsed_ns > k_long_ns ? std::max(m_chunk, count / 2) : count;
}

void job::run_by_clock(participant& self) {
    std::uint64_t since = os::monotonic_ns();
    while (run_next(self, self.chunk)) {
        if (self.range.size_hint() <= k_few_chunks * self.chunk) continue;
        std::uint64_t const now = os::monotonic_ns();
        self.chunk = adapt(self.chunk, now - since);
        since = now;
    }
}

// Runs m_chunk iterations at a time, from an own part of as many as take some microseconds.
void job::run_batches(participant& self) {
    std::uint64_t first = self.range.begun();
    std::uint64_t since = os::monotonic_ns();
    for (;;) {
        std::uint64_t const last = self.range.take_cold(first, m_chunk, self.chunk);
        if (last == first) return;
        run_chunk(first, last);
        first = m_body.drain(m_context, self.range, last, m_chunk);
        std::uint64_t const now = os::monotonic_ns();
        self.chunk = adapt(self.chunk, now - since);
        since = now;
    }
}

} // namespace tulle::loop

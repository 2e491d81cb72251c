// SPDX-License-Identifier: Apache-2.0
#include "loop/job.hpp"
#include "loop/thread_each.hpp"
#include "sched/modes/guest.hpp"

#include <tulle/detail/partition.hpp>
#include <tulle/schedule_point.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <vector>

namespace tulle::loop {

namespace {

// A loop of one iteration needs no help.
bool run_alone(detail::loop_body const& body, void* context, loop_stop const& until) {
    schedule_point();
    if (until.is_possible() && until.is_requested()) return false;
    body.run(context, 0, 1);
    return true;
}

} // namespace

} // namespace tulle::loop

namespace tulle::detail {

namespace {

// The most iterations of a loop, so that the end of a chunk is always a number.
constexpr std::uint64_t k_most_iterations = std::uint64_t{1} << 63U;

} // namespace

bool run_loop(loop_body const& body, void* context, std::uint64_t count,
              loop_options const& options) {
    if (count > k_most_iterations)
        throw std::length_error("tulle: a loop of more than 2^63 iterations");
    static_cast<void>(sched::this_fiber()); // starts the run time if need be
    if (count == 1 && options.how.kind() != schedule_kind::threads)
        return loop::run_alone(body, context, options.until);
    if (options.how.kind() == schedule_kind::threads)
        return loop::thread_each(body, context, count, options.until).run();
    sched::scheduler const& s = sched::scheduler::instance();
    return loop::job(body, context, count, options, s.opens_asymmetric_deques(),
                     static_cast<std::uint64_t>(s.active().count()))
        .run();
}

std::uint64_t loop_width() {
    static_cast<void>(sched::this_fiber());
    return static_cast<std::uint64_t>(sched::scheduler::instance().active().count());
}

void sort_descending(std::vector<std::uint64_t>& numbers) noexcept {
    std::sort(numbers.begin(), numbers.end(), std::greater<>());
}

} // namespace tulle::detail

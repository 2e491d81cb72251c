// SPDX-License-Identifier: Apache-2.0
#include "diag/stack_limit.hpp"

#include "os/memory.hpp"

#include <sys/resource.h>

namespace tulle::diag {

namespace {

// The system has refused a stack: by which limit it did is not told, so the one that is set and was
// come near is named.
void print_system_limit(text_output& out, sched::scheduler& scheduler) noexcept {
    constexpr std::size_t k_kibi = 1024;
    rlimit space{};
    if (::getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY) {
        out.print("    the limit of address space is reached: raise it (ulimit -v, now %llu KiB), "
                  "or lower TULLE_STACK_SIZE (now %zuK)\n",
                  static_cast<unsigned long long>(space.rlim_cur / k_kibi),
                  scheduler.chosen().stack_size / k_kibi);
        return;
    }
    out.print("    the system gives no memory for another one: lower TULLE_STACK_SIZE (now %zuK), "
              "or raise vm.max_map_count (now %zu)\n",
              scheduler.chosen().stack_size / k_kibi, os::mapping_limit());
}

} // namespace

void print_stack_limit(text_output& out, sched::scheduler& scheduler) noexcept {
    stack::stack_pool const& stacks = scheduler.stacks();
    if (stacks.limit() != 0 && stacks.stats().in_use >= stacks.limit())
        out.print("    the limit is TULLE_MAX_STACKS=%zu: raise it\n", stacks.limit());
    else
        print_system_limit(out, scheduler);
    out.print("    threads that wait for ones which start later need a stack each; spawn them in a "
              "spawn_group, or in the order of their "
              "waits\n");
}

} // namespace tulle::diag

// SPDX-License-Identifier: Apache-2.0
// Threads of one function, one on each of some workers of a shepherd, as Kokkos asks for them: each
// uses what belongs to its worker.
// A clone that has begun keeps its worker until all have begun, so that no worker gets two; but not
// for longer than a while, as workers may be busy with something else.
#include "compat/qthread/library/arguments.hpp"
#include "compat/qthread/library/library.hpp"
#include "compat/qthread/threads/task.hpp"

#include <tulle/detail/cpu_pause.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <new>

#include <sched.h>

namespace tulle::compat {

namespace {

using namespace std::chrono_literals;

constexpr auto k_patience_with_clones = 1s;
constexpr int k_spins_per_look = 64;

// Freed by the last clone, which also delivers the result.
struct clone_group {
    qthread_f function;
    void* argument;
    aligned_t* result;
    std::uint32_t together; // as many as there are workers, at most
    std::atomic<std::uint32_t> begun{0};
    std::atomic<std::uint32_t> running;
};

// relaxed: only the number matters, and whom a clone meets tells it nothing.
bool have_all_begun(clone_group const& g) noexcept {
    return g.begun.load(std::memory_order_relaxed) >= g.together;
}

void wait_for_others(clone_group& g) noexcept {
    g.begun.fetch_add(1, std::memory_order_relaxed); // relaxed: see have_all_begun
    auto const until = std::chrono::steady_clock::now() + k_patience_with_clones;
    while (!have_all_begun(g) && std::chrono::steady_clock::now() < until) {
        for (int k = 0; k < k_spins_per_look && !have_all_begun(g); ++k) detail::cpu_pause();
        ::sched_yield(); // to the OS threads of the other workers
    }
}

void leave(clone_group* g, std::uint32_t clones, aligned_t value) noexcept {
    // acq_rel: what each clone did happens before the result is delivered.
    if (g->running.fetch_sub(clones, std::memory_order_acq_rel) != clones) return;
    aligned_t* const result = g->result;
    delete g;
    deliver(result, 0, value);
}

aligned_t run_clone(void* group) {
    auto* const g = static_cast<clone_group*>(group);
    wait_for_others(*g);
    leave(g, 1, g->function(g->argument));
    return 0;
}

// How many of them there are in the end: fewer where there is no memory.
std::uint32_t start_clones(clone_group& g, std::uint32_t wanted, qthread_shepherd_id_t shepherd,
                           void const* site, int& error) noexcept {
    for (std::uint32_t k = 0; k != wanted; ++k) {
        error = fork({run_clone, &g, 0, nullptr, nullptr, shepherd, 0}, site);
        if (error != QTHREAD_SUCCESS) return k;
    }
    return wanted;
}

} // namespace

} // namespace tulle::compat

using namespace tulle::compat;

int qthread_fork_clones_to_local_priority(qthread_f f, void const* arg, aligned_t* ret,
                                          qthread_shepherd_id_t shepherd, unsigned int num_clones) {
    void const* const site = __builtin_return_address(0);
    if (f == nullptr || !is_object_or_null(ret) || num_clones >= UINT16_MAX) return QTHREAD_BADARGS;
    if (!the().is_running()) return QTHREAD_NOT_ALLOWED;
    std::uint32_t const wanted = num_clones + 1;
    auto const each = static_cast<std::uint32_t>(the().workers_each);
    auto* const g = new (std::nothrow)
        clone_group{f, const_cast<void*>(arg), ret, std::min(wanted, each), {0}, {wanted}};
    if (g == nullptr) return QTHREAD_MALLOC_ERROR;
    int error = ret != nullptr ? qthread_empty(ret) : QTHREAD_SUCCESS;
    if (error != QTHREAD_SUCCESS) {
        delete g;
        return error;
    }
    std::uint32_t const made = start_clones(*g, wanted, shepherd, site, error);
    // Without all of them the others end as they are, and the caller hears of it.
    if (made != wanted) leave(g, wanted - made, 0);
    return error;
}

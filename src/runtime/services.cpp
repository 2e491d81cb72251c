// SPDX-License-Identifier: Apache-2.0
// The services of the run time, in the order of their start. Only the workers can fail.
#include "diag/answer.hpp"
#include "diag/fault_handler.hpp"
#include "diag/misuse_report.hpp"
#include "dsm/settings.hpp"
#include "gmem_access/memory.hpp"
#include "io/reactor.hpp"
#include "membership/host_silence.hpp"
#include "membership/membership.hpp"
#include "os/thread.hpp"
#include "races/settings.hpp"
#include "runtime/service.hpp"

#include <array>
#include <new>
#include <vector>

#include <pthread.h>

namespace tulle::runtime {

namespace {

using base::option_id;

// What the calling OS thread may use: all of it, or without the CPU that is reserved.
void use_cpus(os::topology const& machine, bool all) noexcept try {
    if (machine.reserved_cpu < 0) return;
    std::vector<int> cpus;
    for (auto const& group : machine.groups)
        cpus.insert(cpus.end(), group.cpus.begin(), group.cpus.end());
    if (all) cpus.push_back(machine.reserved_cpu);
    static_cast<void>(os::pin_to(pthread_self(), cpus));
} catch (std::bad_alloc const&) {
    return; // locality only
}

// This comes before the others: their OS threads inherit what the caller may use.
int leave_reserved_cpu(launch const& with) {
    if (with.chosen.adopt_caller) use_cpus(with.chosen.machine, false);
    return 0;
}
void use_reserved_cpu(launch const& with) noexcept {
    if (with.chosen.adopt_caller) use_cpus(with.chosen.machine, true);
}

// The first wait for a descriptor, or for a helper, starts them. Workers poll until they are gone.
void stop_io_helpers(launch const&) noexcept { io::reactor::instance().stop_helpers(); }
void close_io(launch const&) noexcept { io::reactor::instance().close(); }

int start_workers(launch const& with) { return sched::scheduler::instance().start(with.chosen); }
void stop_workers(launch const&) noexcept { sched::scheduler::instance().stop(); }

int share_cpus(launch const& with) {
    if (with.options.number(option_id::share_cpus) != 0 && with.chosen.seed == 0)
        with.cpus.join(with.chosen);
    return 0;
}
void leave_cpus(launch const& with) noexcept { with.cpus.leave(); }

int explain_mistakes(launch const&) {
    diag::explain_overflows();
    diag::tell_where_misused();
    return 0;
}
void stop_explaining(launch const&) noexcept {
    diag::stop_telling_where_misused();
    diag::stop_explaining_overflows();
}

int answer_requests(launch const& with) {
    if (with.chosen.on_deadlock != nullptr) diag::answer_requests();
    return 0;
}
void stop_answering(launch const&) noexcept { diag::stop_answering(); }

int prepare_memory(launch const& with) {
    base::option_table const& options = with.options;
    gmem_access::set_memory_settings(
        {options.number(option_id::global_memory),
         static_cast<net::rank>(options.number(option_id::global_group)),
         static_cast<gmem::algorithm>(options.number(option_id::global_algorithm)),
         options.number(option_id::global_report) != 0,
         options.number(option_id::global_low) != 0});
    std::uint64_t const coherent = options.number(option_id::coherent);
    dsm::set_settings({coherent != base::k_coherent_off, coherent == base::k_coherent_pages,
                       options.number(option_id::coherent_unit),
                       options.number(option_id::coherent_large_unit)});
    races::set_settings(
        {options.number(option_id::race_reports), options.number(option_id::race_exit_code)});
    return 0;
}

int prepare_places(launch const& with) {
    base::option_table const& options = with.options;
    membership::reserve_processor(with.chosen.machine.reserved_cpu);
    membership::set_survival(options.number(option_id::on_place_death) ==
                             base::k_on_place_death_throw);
    membership::set_host_limits(options.number(option_id::host_timeout),
                                options.number(option_id::start_timeout));
    membership::set_check(options.number(option_id::check) != 0);
    membership::set_memory_places(static_cast<unsigned>(options.number(option_id::memory_places)));
    return 0;
}
void leave_places(launch const&) noexcept { membership::leave(); }

constexpr std::array<service, 9> k_services{{
    {"the choice of processors", &leave_reserved_cpu, &use_reserved_cpu},
    {"input and output", nullptr, &close_io},
    {"the workers", &start_workers, &stop_workers},
    {"helpers of input and output", nullptr, &stop_io_helpers},
    {"the sharing of processors", &share_cpus, &leave_cpus},
    {"explanations of mistakes", &explain_mistakes, &stop_explaining},
    {"answers to requests for reports", &answer_requests, &stop_answering},
    {"global memory", &prepare_memory, nullptr},
    {"the place", &prepare_places, &leave_places},
}};

} // namespace

std::span<service const> services() noexcept { return k_services; }

} // namespace tulle::runtime

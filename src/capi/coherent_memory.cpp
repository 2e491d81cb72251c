// SPDX-License-Identifier: Apache-2.0
// The C functions of <tulle/c/coherent_memory.h>. Coherent memory is managed as global memory is:
// an allocation of the one stands for the same part of the other.
#include "capi/checking_workers.hpp"
#include "capi/without_exceptions.hpp"
#include "diag/fault_handler.hpp"
#include "dsm/carrier.hpp"
#include "dsm/coherent_host.hpp"
#include "dsm/compiled_scheme.hpp"
#include "dsm/directory.hpp"
#include "dsm/geometry.hpp"
#include "dsm/settings.hpp"
#include "dsm/state_table.hpp"
#include "gmem_access/memory.hpp"
#include "messenger/calls.hpp"
#include "os/memory.hpp"
#include "os/shared_memory.hpp"

#include <tulle/c/coherent_memory.h>
#include <tulle/c/global_memory.h>
#include <tulle/c/place.h>
#include <tulle/place.hpp>
#include <tulle/runtime.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

namespace tulle::capi {
namespace {

using gmem_access::memory_of_caller;

// In the range of the checks behind the program, and of the addresses that a process has.
constexpr std::uint64_t k_most_bytes = TULLE_COHERENT_BYTES / 2;
constexpr std::uint64_t k_most_bytes_of_copies = std::uint64_t{1} << 45U;

constexpr std::size_t k_large_allocation = std::size_t{1} << 20U; // of large_unit_bytes

std::uint64_t number_of(void const* p) noexcept { return reinterpret_cast<std::uintptr_t>(p); }

// Of global memory, an allocation of which stands for the part of coherent memory that is as far
// from the beginning.
gmem::segments const& table() {
    gmem::segments const* const made = memory_of_caller().table();
    if (made == nullptr)
        throw std::system_error(memory_of_caller().error(), std::generic_category());
    return *made;
}

// What the program was compiled for; without checks stores fault where that is wanted.
dsm::scheme chosen_scheme() noexcept {
    bool const by_pages = dsm::chosen_settings().by_pages && !dsm::has_checks();
    return by_pages ? dsm::scheme::pages : dsm::compiled_scheme();
}

bool is_size_of_unit(std::uint64_t bytes) noexcept {
    return std::has_single_bit(bytes) && bytes >= dsm::k_least_unit && bytes <= dsm::k_largest_unit;
}

std::uint64_t chosen_unit() {
    std::uint64_t const unit = dsm::chosen_settings().unit_bytes;
    std::uint64_t const large = dsm::chosen_settings().large_unit_bytes;
    if (!is_size_of_unit(unit) || (large != 0 && !is_size_of_unit(large)))
        throw std::system_error(EINVAL, std::generic_category());
    if (chosen_scheme() != dsm::scheme::pages) return unit;
    if (os::page_size() > dsm::k_largest_unit)
        throw std::system_error(ENOEXEC, std::generic_category());
    return std::max<std::uint64_t>(unit, os::page_size());
}

// For memory of so many bytes; 0: allocations have units of one size, as lines are what is copied
// by the directory and pages are what is protected, and as addresses for more would be too many.
std::uint64_t bytes_of_section(std::uint64_t bytes) {
    dsm::scheme const by = chosen_scheme();
    if (by != dsm::scheme::states && by != dsm::scheme::refresh) return 0;
    std::uint64_t const section = std::bit_ceil(std::max(bytes, TULLE_COHERENT_PROGRAM_BYTES));
    std::uint64_t const all = dsm::bytes_of_sections(section);
    auto const hosts = static_cast<std::uint64_t>(tulle_place_count());
    return all <= k_most_bytes && all <= k_most_bytes_of_copies / hosts ? section : 0;
}

dsm::geometry new_geometry() {
    std::uint64_t const chunk = dsm::used_chunks::k_bytes;
    std::uint64_t const bytes = (table().size() + chunk - 1) / chunk * chunk;
    if (bytes > k_most_bytes) throw std::bad_alloc();
    std::uint64_t const section = bytes_of_section(bytes);
    std::uint64_t const all = section == 0 ? bytes : dsm::bytes_of_sections(section);
    return {TULLE_COHERENT_PROGRAM,
            TULLE_COHERENT_PROGRAM_BYTES + all,
            chosen_unit() / TULLE_COHERENT_LINE,
            static_cast<dsm::host_number>(tulle_place_count()),
            TULLE_COHERENT_PROGRAM_BYTES,
            section};
}

// The places whose memory the caller's place reaches by loads and stores, and it.
std::vector<dsm::host_number> places_of_this_machine() {
    std::vector<dsm::host_number> made;
    messenger::endpoint* const e = messenger::endpoint_of_caller();
    for (int p = 0; p < tulle_place_count(); ++p)
        if (e == nullptr || e->transport().reaches(static_cast<net::rank>(p)))
            made.push_back(static_cast<dsm::host_number>(p));
    return made;
}

// How the other places of a machine find the file.
struct invitation {
    dsm::geometry chosen;
    std::int32_t process;
    std::int32_t descriptor;
};

void find_stores_by_faults() {
    if (chosen_scheme() != dsm::scheme::pages)
        throw std::system_error(ENOEXEC, std::generic_category());
    if (!dsm::map_state_table(dsm::table_extent::of_coherent_memory))
        throw std::system_error(errno, std::generic_category());
    if (!diag::resolve_faults_by(&dsm::resolve_fault))
        throw std::system_error(errno, std::generic_category());
}

// Threads of a place may use its copy at the same time: those of several workers, and those of one
// while a thread of it waits for another machine, which no thread does that stores to a protected
// page. Null: one does at a time; or nobody asks, as by the directory no check holds any longer
// than its access.
dsm::checking_threads* threads_of_copy(std::size_t machines) {
    dsm::scheme const by = chosen_scheme();
    if (by == dsm::scheme::directory) return nullptr;
    static checking_workers s_workers(sched::running_scheduler());
    bool const others_go_on = machines != 1 && by != dsm::scheme::pages;
    return s_workers.are_one() && !others_go_on ? nullptr : &s_workers;
}

// What a place that dies had is lost, and nobody may go on with the rest.
void refuse_survival() {
    messenger::endpoint const* const e = messenger::endpoint_of_caller();
    if (e != nullptr && e->survives_deaths())
        throw std::system_error(EOPNOTSUPP, std::generic_category());
}

// A place keeps it until the process ends, as checked code may run until then. `leaders`: of all
// machines.
void keep_copy(dsm::geometry const& chosen, std::vector<dsm::host_number> const& leaders,
               int descriptor) {
    refuse_survival();
    dsm::checking_threads* const threads = threads_of_copy(leaders.size());
    if (!dsm::has_state_table()) find_stores_by_faults();
    static_cast<void>(table()); // global memory is there, too
    dsm::host_map map{
        static_cast<dsm::host_number>(tulle_here()), places_of_this_machine(), {}, nullptr};
    for (dsm::host_number const leader : leaders)
        if (leader != map.near.front()) map.leaders.push_back(leader);
    if (!map.leaders.empty()) {
        // Never destroyed: destructors of the program are checked code, too.
        map.carrier = new dsm::carrier(*messenger::endpoint_of_caller(), map.leaders);
    }
    dsm::become_host(chosen_scheme(), chosen, map, descriptor, threads);
}

int open_there(invitation const& from) noexcept try {
    std::string const path =
        "/proc/" + std::to_string(from.process) + "/fd/" + std::to_string(from.descriptor);
    return open(path.c_str(), O_RDWR | O_CLOEXEC);
} catch (std::bad_alloc const&) {
    errno = ENOMEM;
    return -1;
}

using numbers = std::vector<dsm::host_number>;

int join(invitation const& from, numbers const& leaders) {
    return without_exceptions([&] {
        os::shared_file const file = os::shared_file::adopt(open_there(from));
        if (!file.is_open()) return -errno;
        keep_copy(from.chosen, leaders, file.number());
        return 0;
    });
}

// At the first place of a machine: makes its file, and lets the others map it.
int begin_machine(dsm::geometry const& chosen, numbers const& leaders) {
    return without_exceptions([&] {
        numbers const places = places_of_this_machine();
        os::shared_file const file = os::shared_file::create("tulle-coherent-memory");
        if (!file.is_open() || !file.grow(dsm::file_size(chosen_scheme(), chosen, places.size())))
            return -errno;
        invitation const call{chosen, getpid(), file.number()};
        keep_copy(chosen, leaders, file.number());
        for (dsm::host_number const p : places) {
            if (static_cast<int>(p) == tulle_here()) continue;
            if (int const error = at(
                    tulle::place(static_cast<int>(p)),
                    [](invitation const& from, numbers const& all) { return join(from, all); },
                    call, leaders))
                return error;
        }
        return 0;
    });
}

// The first place of each machine.
numbers find_leaders() {
    numbers made;
    for (int p = 0; p < tulle_place_count(); ++p) {
        dsm::host_number const first =
            at(tulle::place(p), [] { return places_of_this_machine().front(); });
        if (static_cast<int>(first) == p) made.push_back(first);
    }
    return made;
}

// Requests may come to a place when others have begun, so each is a host before any of them stores.
int begin(numbers const& leaders) {
    dsm::geometry const chosen = new_geometry();
    if (chosen.hosts > dsm::k_most_hosts) return -EUSERS;
    if (dsm::compiled_scheme() == dsm::scheme::directory) {
        if (leaders.size() != 1) return -EXDEV;
        if (chosen.hosts > dsm::k_most_directory_hosts) return -EUSERS;
    }
    for (dsm::host_number const leader : leaders)
        if (int const error = at(
                tulle::place(static_cast<int>(leader)),
                [](dsm::geometry const& same, numbers const& all) {
                    return begin_machine(same, all);
                },
                chosen, leaders))
            return error;
    return 0;
}

dsm::line_range lines_of(std::uint64_t address, std::uint64_t size) noexcept {
    return {address / TULLE_COHERENT_LINE, size / TULLE_COHERENT_LINE};
}

// Addresses travel as complements (<tulle/place.hpp>).
int hold_here(std::uint64_t address, std::uint64_t size) {
    return dsm::hold(lines_of(~address, size)) ? 0 : -errno;
}

// With units of so many bytes, as far as they are of several sizes.
int allocate(void** address, std::size_t size, std::uint64_t unit) {
    int const error = tulle_global_malloc(address, size);
    if (error != 0 || !dsm::is_host()) return error;
    dsm::acquire(); // pairs with the release of whoever has given it back
    return without_exceptions([&] {
        std::uint64_t const offset = number_of(*address) - table().low();
        std::uint64_t const made = dsm::chosen_geometry().address_of(offset, unit);
        std::uint64_t const line = made / TULLE_COHERENT_LINE;
        dsm::add({line, (made + size - 1) / TULLE_COHERENT_LINE - line + 1});
        *address = reinterpret_cast<void*>(made); // NOLINT(performance-no-int-to-ptr)
        return 0;
    });
}

bool are_pages_of_program(std::uint64_t address, std::uint64_t size) {
    auto const page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    std::uint64_t const offset = address - TULLE_COHERENT_PROGRAM;
    return size != 0 && offset < TULLE_COHERENT_PROGRAM_BYTES &&
           size <= TULLE_COHERENT_PROGRAM_BYTES - offset && address % page == 0 && size % page == 0;
}

} // namespace
} // namespace tulle::capi

using namespace tulle::capi;
namespace dsm = tulle::dsm;

int tulle_coherent_begin(void) {
    // Of the call that failed: what it has begun at some places cannot be taken back.
    static constinit std::atomic<int> s_error{0};
    if (tulle_place_count() == 1) return 0;
    // relaxed, both: the callers take turns
    if (dsm::is_host()) return s_error.load(std::memory_order_relaxed);
    int const error = without_exceptions([] {
        numbers const leaders = find_leaders();
        return dsm::chosen_settings().is_private || leaders.size() > 1 ? begin(leaders) : 0;
    });
    s_error.store(error, std::memory_order_relaxed);
    return error;
}

int tulle_coherent_malloc(void** address, size_t size) {
    dsm::settings const& chosen = dsm::chosen_settings();
    bool const is_large = size >= k_large_allocation && chosen.large_unit_bytes != 0;
    std::uint64_t const unit = is_large ? chosen.large_unit_bytes : chosen.unit_bytes;
    // That of place 0 was looked at when the memory began, and this may be another place.
    return is_size_of_unit(unit) ? allocate(address, size, unit) : -EINVAL;
}

int tulle_coherent_malloc_units(void** address, size_t size, size_t unit) {
    return is_size_of_unit(unit) ? allocate(address, size, unit) : -EINVAL;
}

int tulle_coherent_free(void* address) {
    if (address == nullptr || !dsm::is_host()) return tulle_global_free(address);
    if (number_of(address) < TULLE_COHERENT_HEAP || !dsm::has(number_of(address))) return -EINVAL;
    dsm::release(); // pairs with the acquire of whoever gets it
    return without_exceptions([&] {
        std::uint64_t const offset = dsm::chosen_geometry().offset_of(number_of(address));
        // NOLINTNEXTLINE(performance-no-int-to-ptr)
        return tulle_global_free(reinterpret_cast<void*>(table().low() + offset));
    });
}

int tulle_coherent_adopt(void* address, size_t size) {
    if (!dsm::is_host()) return 0;
    if (!are_pages_of_program(number_of(address), size)) return -EINVAL;
    return without_exceptions([&] {
        dsm::share();
        for (int p = 0; p < tulle_place_count(); ++p)
            if (int const error = at(
                    tulle::place(p),
                    [](std::uint64_t first, std::uint64_t bytes) {
                        return hold_here(first, bytes);
                    },
                    ~number_of(address), size))
                return error;
        dsm::share_held(lines_of(number_of(address), size));
        return 0;
    });
}

void tulle_coherent_share(void) {
    if (dsm::is_host()) dsm::share();
}
void tulle_coherent_release(void) {
    if (dsm::is_host()) dsm::release();
}
void tulle_coherent_acquire(void) {
    if (dsm::is_host()) dsm::acquire();
}

void tulle_coherent_use(void const* address, size_t size, int stores) {
    if (!dsm::is_host() || size == 0) return;
    std::uint64_t const first = number_of(address);
    std::uint64_t const last = first + std::min<std::uint64_t>(size - 1, UINT64_MAX - first);
    dsm::make_usable(first, last, stores != 0 ? dsm::access_kind::store : dsm::access_kind::load);
}

// SPDX-License-Identifier: Apache-2.0
#include "dsm/coherent_host.hpp"

#include "dsm/basic_coherent_host.hpp"
#include "dsm/coherent_release.hpp"
#include "dsm/directory_host.hpp"
#include "dsm/forked_child.hpp"

#include <tulle/coherent_abi.h>
#include <tulle/detail/attributes.hpp>

namespace tulle::dsm {

namespace {

// A host that misses so many notices, or a home so many fetches, looks at all memory instead.
constexpr std::size_t k_notices = std::size_t{1} << 16U;
constexpr std::size_t k_fetches = std::size_t{1} << 13U;
using host = basic_coherent_host<k_notices, k_fetches>;

host* s_own = nullptr;
// Checked code may mean any memory.
void expect_no_child(std::uint64_t first, std::uint64_t last) noexcept {
    if (TULLE_LIKELY(!s_is_forked_child)) return;
    geometry const& all = s_own->own().chosen();
    if (first < all.address + all.bytes && last >= all.address) refuse_child();
}

} // namespace

std::uint64_t file_size(scheme by, geometry const& chosen, std::size_t hosts) noexcept {
    return by == scheme::directory ? directory_file(chosen, hosts).size()
                                   : basic_shared_file<k_notices, k_fetches>(chosen, hosts).size();
}

void become_host(scheme by, geometry const& chosen, host_map const& hosts, int descriptor,
                 checking_threads* threads) {
    expect_forks();
    std::uint64_t const own_copy_at = chosen.address + chosen.program_bytes;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): where checks look
    auto* const states = reinterpret_cast<std::uint8_t*>(TULLE_COHERENT_STATE_OF(chosen.address));
    if (by == scheme::directory)
        s_directory = new directory_host(chosen, hosts, descriptor, own_copy_at,
                                         reinterpret_cast<std::byte*>(states));
    else
        s_own = new host(
            chosen, hosts, descriptor, own_copy_at, states,
            by == scheme::states ? outdated_copies::are_dropped : outdated_copies::are_refreshed,
            by == scheme::pages ? stores_are::found_by_faults : stores_are::checked, threads);
    s_is_host = true;
}

geometry const& chosen_geometry() noexcept {
    return s_directory != nullptr ? s_directory->chosen() : s_own->own().chosen();
}
bool contains(std::uint64_t address) noexcept {
    return s_directory != nullptr ? s_directory->contains(address) : s_own->contains(address);
}
bool has(std::uint64_t address) noexcept {
    return s_directory != nullptr ? s_directory->contains(address) : s_own->has(address);
}
void add(line_range lines) noexcept {
    expect_no_child();
    if (s_directory != nullptr) return s_directory->add(lines);
    s_own->add(lines);
}
void share() noexcept {
    expect_no_child();
    if (s_directory != nullptr) return s_directory->share();
    s_own->share();
}
bool hold(line_range pages) noexcept {
    expect_no_child();
    return s_directory != nullptr ? s_directory->hold(pages) : s_own->hold(pages);
}
void share_held(line_range pages) noexcept {
    expect_no_child();
    if (s_directory != nullptr) return s_directory->share_held(pages);
    s_own->share_held(pages);
}
// By the directory what is stored is there for all at once.
void release() noexcept {
    expect_no_child();
    if (s_own != nullptr) s_own->release();
}
bool begin_release() noexcept {
    if (!is_host()) return false;
    expect_no_child();
    return s_own != nullptr && s_own->begin_release();
}
void release_behind_fence() noexcept { s_own->release_behind_fence(); }
void acquire() noexcept {
    expect_no_child();
    if (s_own != nullptr) s_own->acquire();
}
// By the directory no line can be kept usable.
bool resolve_fault(std::uintptr_t address) noexcept {
    if (s_own == nullptr || !s_own->has(address)) return false;
    expect_no_child(address, address);
    return s_own->resolve_fault(address);
}
void make_loadable(std::uint64_t address) noexcept {
    if (s_own == nullptr) return;
    expect_no_child(address, address);
    s_own->make_loadable(address);
}
void make_usable(std::uint64_t first, std::uint64_t last, access_kind wanted) noexcept {
    if (s_own == nullptr) return;
    expect_no_child(first, last);
    s_own->make_usable(first, last, wanted);
}
std::uint64_t access(far_access const& wanted, bool may_store) noexcept {
    expect_no_child();
    return s_directory != nullptr ? s_directory->access(wanted) : s_own->access(wanted, may_store);
}
std::size_t serve(host_number from, std::byte const* request, std::byte* answer) noexcept {
    return s_own->serve(from, request, answer);
}

} // namespace tulle::dsm

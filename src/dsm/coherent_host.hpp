// SPDX-License-Identifier: Apache-2.0
// Coherent memory of which this process has a copy. Checked code calls it while its registers hold
// values that it expects to find again: the functions that come before accesses, and all that they
// call, are compiled to use no vector registers, so that entries save none
// (cmake/tulle_library.cmake).
// But for is_host(), only where there is a copy. The child of a fork that would use it is ended, as
// far as it asks (forked_child.hpp). How copies are kept alike is chosen once, by what
// the program was compiled for.
#pragma once

#include "dsm/checking_threads.hpp"
#include "dsm/far_memory.hpp"
#include "dsm/geometry.hpp"
#include "dsm/line_range.hpp"
#include "dsm/protocol.hpp"
#include "dsm/shared_file.hpp"

#include <cstddef>
#include <cstdint>

namespace tulle::dsm {

// How accesses are checked, as include/tulle/coherent_abi.h says; by pages not at all, and stores
// fault. Of `races` nobody has a copy.
enum class scheme : std::uint8_t { states, directory, races, refresh, pages };

// Of the file that so many hosts of one machine map.
[[nodiscard]] std::uint64_t file_size(scheme by, geometry const& chosen,
                                      std::size_t hosts) noexcept;
// Once: this process has a copy until it ends. Throws std::bad_alloc, std::system_error: the file
// or something else cannot be mapped. By the directory all hosts are on one machine. `threads`,
// which stay: several may use the copy, by states or refresh; null: one at a time does.
void become_host(scheme by, geometry const& chosen, host_map const& hosts, int descriptor,
                 checking_threads* threads);
inline bool s_is_host = false; // written once
[[nodiscard]] inline bool is_host() noexcept { return s_is_host; }
// Null: copies are kept alike by states, or there are none.
class directory_host;
inline directory_host* s_directory = nullptr; // written once
[[nodiscard]] inline directory_host* by_directory() noexcept { return s_directory; }

[[nodiscard]] geometry const& chosen_geometry() noexcept;
// basic_coherent_host.hpp says what they do.
[[nodiscard]] bool contains(std::uint64_t address) noexcept;
[[nodiscard]] bool has(std::uint64_t address) noexcept;
void add(line_range lines) noexcept;
void share() noexcept;
[[nodiscard]] bool hold(line_range pages) noexcept;
void share_held(line_range pages) noexcept;
void release() noexcept;
void acquire() noexcept;
// After an access to an address that the protection of a page forbids. True: it was a store of a
// program without checks, and may be done now. In a handler of the signal.
[[nodiscard]] bool resolve_fault(std::uintptr_t address) noexcept;
void make_loadable(std::uint64_t address) noexcept;
void make_usable(std::uint64_t first, std::uint64_t last, access_kind wanted) noexcept;
std::uint64_t access(far_access const& wanted, bool may_store) noexcept;
// Any thread, one at a time.
std::size_t serve(host_number from, std::byte const* request, std::byte* answer) noexcept;

} // namespace tulle::dsm

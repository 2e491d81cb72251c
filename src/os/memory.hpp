// SPDX-License-Identifier: Apache-2.0
// Address space from the operating system. No call throws; a failed one returns nullptr or false
// and leaves the reason in errno. The calls are reached through a table, so that a test can put a
// failing or counting call instead of one.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tulle::os {

// `count` ranges of `bytes` each, the first at `first`, one every `stride` bytes.
struct strided_range {
    std::byte* first;
    std::size_t stride;
    std::size_t bytes;
    std::size_t count;
};

// What the memory side of the library asks of the system; system_memory() has the real ones.
struct memory_calls {
    // Reads and writes, but no memory behind it until touched. `alignment`: a power of two.
    void* (*reserve)(std::size_t bytes, std::size_t alignment) noexcept;
    // Gives a reservation back, address space included; where the kernel has no memory to do that,
    // now its pages, and the rest later.
    bool (*release)(void* low, std::size_t bytes) noexcept;
    // Gives the pages back; the range reads zero afterwards, guards in it stay.
    bool (*discard)(void* low, std::size_t bytes) noexcept;
    // Asks for huge pages, or forbids them.
    bool (*advise_huge)(void* low, std::size_t bytes, bool wanted) noexcept;
    // Makes every range fault on access, without a mapping of its own (Linux 6.13).
    bool (*install_guards)(strided_range const& ranges) noexcept;
    // Makes one range fault on access, at the price of one or two more mappings.
    bool (*protect)(void* low, std::size_t bytes) noexcept;
    // Puts pages behind every range before they are touched; an optimisation, may fail.
    bool (*populate)(strided_range const& ranges) noexcept;
};

[[nodiscard]] memory_calls const& system_memory() noexcept;

[[nodiscard]] std::size_t page_size() noexcept;

// What a crash leaves behind has these whole pages or not; they are in it at first.
void leave_out_of_dumps(void* low, std::size_t bytes, bool left_out) noexcept;

// Bytes that the machine has; 0: the system does not say.
[[nodiscard]] std::uint64_t physical_memory() noexcept;

// The most mappings that this process may have (vm.max_map_count; the kernel's default where that
// cannot be read).
[[nodiscard]] std::size_t mapping_limit() noexcept;

// Tries install_guards on a scratch page: false before Linux 6.13 and under filters that refuse
// it.
[[nodiscard]] bool can_install_guards(memory_calls const& calls) noexcept;

// Called around fork(2): what the kernel would not take back is whole in the child.
void lock_refused_memory() noexcept;
void unlock_refused_memory() noexcept;

} // namespace tulle::os

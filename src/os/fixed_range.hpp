// SPDX-License-Identifier: Apache-2.0
// Addresses that are set aside, to be filled with memory part by part. Several processes can set
// aside the same ones.
#pragma once

#include <cstddef>
#include <cstdint>

#include <tulle/detail/visibility.h>

namespace tulle::os {

class fixed_range {
public:
    fixed_range() noexcept = default;
    fixed_range(fixed_range&& other) noexcept;
    fixed_range& operator=(fixed_range&& other) noexcept;
    ~fixed_range(); // unmaps

    // `address` 0: anywhere. Nothing of it can be read or written yet, and it takes no memory. Not
    // valid: errno says why; EEXIST: something is there.
    [[nodiscard]] static fixed_range reserve(std::uintptr_t address, std::size_t bytes) noexcept;
    // An address where nothing else is, on the machine that this was compiled for, and with its
    // sanitizer.
    [[nodiscard]] static std::uintptr_t usual_address() noexcept;
    // Such an address below 2 GiB, above what programs that lie at low addresses take, unless they
    // are large.
    [[nodiscard]] static std::uintptr_t low_address() noexcept;

    // Leaves the addresses as they are until the process ends.
    void keep() noexcept { m_low = nullptr; }

    [[nodiscard]] bool is_valid() const noexcept { return m_low != nullptr; }
    [[nodiscard]] std::byte* low() const noexcept { return m_low; }
    [[nodiscard]] std::size_t size() const noexcept { return m_size; }

    // Whole pages of zeros, of this process. A page takes memory when it is touched. False: errno
    // says why.
    [[nodiscard]] bool fill(std::size_t offset, std::size_t bytes) noexcept;
    // Fills with the bytes of a file at the same offsets, or from another one on.
    [[nodiscard]] bool fill_from(int descriptor, std::size_t offset, std::size_t bytes) noexcept {
        return fill_from(descriptor, offset, bytes, offset);
    }
    [[nodiscard]] bool fill_from(int descriptor, std::size_t offset, std::size_t bytes,
                                 std::size_t file_offset) noexcept;

private:
    struct source {
        int flags;
        int descriptor;
        std::size_t offset;
    };
    [[nodiscard]] bool map(std::size_t offset, std::size_t bytes, source from) noexcept;
    void release() noexcept;

    std::byte* m_low = nullptr;
    std::size_t m_size = 0;
};

// Whole pages of shared memory at `from` are to be found at `at`, too, in place of what is there.
// False: errno says why. Exported for the faces of other interfaces.
[[nodiscard]] TULLE_API bool map_again(std::byte* from, std::byte* at, std::size_t bytes) noexcept;
// Whether stores into mapped pages fault. False: errno says why; ENOMEM also means that the process
// has as many mappings as it may have.
[[nodiscard]] TULLE_API bool allow_stores(std::byte* at, std::size_t bytes, bool allowed) noexcept;

} // namespace tulle::os

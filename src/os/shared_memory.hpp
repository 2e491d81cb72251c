// SPDX-License-Identifier: Apache-2.0
// Memory that several processes map: a file that exists in memory only (memfd_create), whose
// descriptor they inherit. Nothing of it is left when the last of them has ended, however it ended.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tulle::os {

class shared_memory {
public:
    shared_memory() noexcept = default;
    shared_memory(shared_memory&& other) noexcept;
    shared_memory& operator=(shared_memory&& other) noexcept;
    ~shared_memory(); // unmaps and closes

    // All zero; a page takes memory when it is touched. The descriptor is not inherited by other
    // programs until keep_for_programs.
    // Not valid: errno says why.
    [[nodiscard]] static shared_memory create(char const* name, std::size_t bytes) noexcept;
    // The memory of a descriptor which has been inherited; the descriptor is this object's from
    // then on, and no other program inherits it. Not valid: it is closed, and errno says why;
    // EINVAL: it is no file that has contents.
    [[nodiscard]] static shared_memory adopt(int descriptor) noexcept;

    // To `bytes` at least, by zeros; it may lie elsewhere then. The processes that grow it do so to
    // the same size. False: errno says why, and it is not valid any more.
    [[nodiscard]] bool grow(std::size_t bytes) noexcept;

    [[nodiscard]] bool is_valid() const noexcept { return m_low != nullptr; }
    [[nodiscard]] std::byte* low() const noexcept { return m_low; }
    [[nodiscard]] std::size_t size() const noexcept { return m_size; }
    [[nodiscard]] int descriptor() const noexcept { return m_descriptor; }
    // Programs that this process becomes inherit the descriptor.
    [[nodiscard]] bool keep_for_programs() const noexcept;

private:
    [[nodiscard]] bool map(std::size_t bytes) noexcept;
    void release() noexcept;

    std::byte* m_low = nullptr;
    std::size_t m_size = 0;
    int m_descriptor = -1;
};

// Memory like shared_memory, but without contents at first, and not mapped.
class shared_file {
public:
    shared_file() noexcept = default;
    shared_file(shared_file&& other) noexcept;
    shared_file& operator=(shared_file&& other) noexcept;
    ~shared_file(); // closes

    // Not open: errno says why
    [[nodiscard]] static shared_file create(char const* name) noexcept;
    [[nodiscard]] static shared_file adopt(int descriptor) noexcept; // as shared_memory::adopt

    [[nodiscard]] bool is_open() const noexcept { return m_descriptor >= 0; }
    [[nodiscard]] int number() const noexcept { return m_descriptor; }
    // Grows to `bytes`, by zeros; nothing changes if it has that size already. False: errno says
    // why.
    [[nodiscard]] bool grow(std::size_t bytes) const noexcept;
    struct part {
        std::uint64_t begin = 0;
        std::uint64_t end = 0;
    };
    // The first part of [from, end) that has memory; the rest reads as zeros. Where the system does
    // not say it is all. Empty: none has.
    [[nodiscard]] part find_memory(std::uint64_t from, std::uint64_t end) const noexcept;
    // Whether any of [from, end) has: soon known, where the end of such a part takes long to find.
    [[nodiscard]] bool has_memory(std::uint64_t from, std::uint64_t end) const noexcept;
    [[nodiscard]] bool keep_for_programs() const noexcept;

private:
    int m_descriptor = -1;
};

} // namespace tulle::os

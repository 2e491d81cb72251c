// SPDX-License-Identifier: Apache-2.0
// A name has the object's mark in its upper bits and the offset in the lower ones.
#include "messenger/image.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>

#include <elf.h>
#include <link.h>

namespace tulle::messenger {

namespace {

constexpr unsigned k_offset_bits = 36; // objects of up to 64 GiB
constexpr code_name k_offset_mask = (code_name{1} << k_offset_bits) - 1;

struct object {
    std::uint64_t id = 0;
    std::uintptr_t base = 0;
    bool stays = false; // until the process ends
};

// FNV-1a, 64 bits.
std::uint64_t hash(std::byte const* bytes, std::size_t count,
                   std::uint64_t from = 0xCBF29CE484222325U) noexcept {
    for (std::size_t k = 0; k < count; ++k)
        from = (from ^ std::to_integer<std::uint64_t>(bytes[k])) * 0x100000001B3U;
    return from;
}

// 0: there is none in this segment of notes.
std::uint64_t build_id(std::byte const* notes, std::size_t size) noexcept {
    auto const padded = [](std::size_t n) { return (n + 3) / 4 * 4; };
    for (std::size_t at = 0; at + sizeof(ElfW(Nhdr)) <= size;) {
        ElfW(Nhdr) note;
        std::memcpy(&note, notes + at, sizeof note);
        std::size_t const name_at = at + sizeof note;
        std::size_t const content_at = name_at + padded(note.n_namesz);
        at = content_at + padded(note.n_descsz);
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && at <= size &&
            std::memcmp(notes + name_at, "GNU", 4) == 0)
            return hash(notes + content_at, note.n_descsz) | 1U;
    }
    return 0;
}

std::uint64_t id_of(dl_phdr_info const& info) noexcept {
    std::uint64_t layout = hash(nullptr, 0);
    for (int k = 0; k < info.dlpi_phnum; ++k) {
        auto const& segment = info.dlpi_phdr[k];
        if (segment.p_type == PT_NOTE) {
            auto const* const notes = reinterpret_cast<std::byte const*>(
                info.dlpi_addr + segment.p_vaddr); // NOLINT(performance-no-int-to-ptr)
            if (std::uint64_t const id = build_id(notes, segment.p_memsz)) return id;
        }
        std::array<std::uint64_t, 3> const numbers{segment.p_type, segment.p_vaddr,
                                                   segment.p_memsz};
        layout = hash(reinterpret_cast<std::byte const*>(numbers.data()), sizeof numbers, layout);
    }
    return layout | 1U;
}

// The object that has this address; or, without one, the object with this mark; or the first one,
// the program.
struct search {
    std::uintptr_t address = 0;
    code_name mark = 0;
    object found{};
    unsigned visited = 0;
    unsigned long long unloaded = 0; // how many objects, when it was found
};

code_name mark_of(std::uint64_t id) noexcept { return id & ~k_offset_mask; }

bool has(dl_phdr_info const& info, std::uintptr_t address) noexcept {
    for (int k = 0; k < info.dlpi_phnum; ++k) {
        auto const& segment = info.dlpi_phdr[k];
        std::uintptr_t const low = info.dlpi_addr + segment.p_vaddr;
        if (segment.p_type == PT_LOAD && address >= low && address < low + segment.p_memsz)
            return true;
    }
    return false;
}

// Where it begins: programs at a fixed address have that in all addresses of their file.
std::uintptr_t beginning_of(dl_phdr_info const& info) noexcept {
    for (int k = 0; k < info.dlpi_phnum; ++k)
        if (info.dlpi_phdr[k].p_type == PT_LOAD) return info.dlpi_addr + info.dlpi_phdr[k].p_vaddr;
    return info.dlpi_addr;
}

int visit(dl_phdr_info* info, std::size_t /*size*/, void* argument) noexcept {
    auto& s = *static_cast<search*>(argument);
    bool const is_program = s.visited++ == 0;
    if (s.address != 0 && !has(*info, s.address)) return 0;
    std::uint64_t const id = id_of(*info);
    if (s.mark != 0 && mark_of(id) != s.mark) return 0;
    // Who runs this is not unloaded meanwhile.
    bool const is_own = has(*info, reinterpret_cast<std::uintptr_t>(&visit));
    s.found = {id, beginning_of(*info), is_program || is_own};
    s.unloaded = info->dlpi_subs;
    return 1;
}

search look(std::uintptr_t address, code_name mark) noexcept {
    search wanted{address, mark};
    dl_iterate_phdr(&visit, &wanted);
    return wanted;
}

int count_unloaded(dl_phdr_info* info, std::size_t /*size*/, void* count) noexcept {
    *static_cast<unsigned long long*>(count) = info->dlpi_subs;
    return 1;
}

// So far.
unsigned long long unloaded_objects() noexcept {
    unsigned long long count = 0;
    dl_iterate_phdr(&count_unloaded, &count);
    return count;
}

// Nearly all code that is called is in the program itself. Objects are not unloaded while code of
// theirs is called, but others may take their places. Threads that find nothing noted find the same
// each: none waits for another one, which a forked child may not have.
object program() noexcept {
    constinit static std::atomic<std::uint64_t> s_id{0};
    constinit static std::atomic<std::uintptr_t> s_base{0};
    std::uint64_t const id = s_id.load(std::memory_order_acquire); // pairs with the release
    if (id != 0)
        return {id, s_base.load(std::memory_order_relaxed), true}; // relaxed: written before
    object const found = look(0, 0).found;
    s_base.store(found.base, std::memory_order_relaxed); // relaxed: published by the next line
    s_id.store(found.id, std::memory_order_release);
    return found;
}

} // namespace

code_name name_of(void const* code) noexcept {
    auto const address = reinterpret_cast<std::uintptr_t>(code);
    // The last one that was asked for: words that belong together, or the answer is looked up anew.
    // Another object may lie there since one has been unloaded; the dynamic linker is asked whether
    // one has been, unless this is code that stays.
    thread_local object t_last;
    thread_local std::uintptr_t t_code = 0;
    thread_local unsigned long long t_unloaded = 0;
    bool const is_known = t_code == address && (t_last.stays || t_unloaded == unloaded_objects());
    if (!is_known) {
        search const made = look(address, 0);
        t_last = made.found;
        t_unloaded = made.unloaded;
        t_code = t_last.id != 0 ? address : 0;
    }
    if (t_last.id == 0 || address - t_last.base > k_offset_mask) return 0;
    return mark_of(t_last.id) | (address - t_last.base);
}

void* code_of(code_name name) noexcept {
    if (name == 0) return nullptr;
    object of = program();
    if (mark_of(of.id) != mark_of(name)) of = look(0, mark_of(name)).found;
    return of.id == 0 ? nullptr
                      : reinterpret_cast<void*>(
                            of.base + (name & k_offset_mask)); // NOLINT(performance-no-int-to-ptr)
}

std::uint64_t program_id() noexcept { return program().id; }

} // namespace tulle::messenger

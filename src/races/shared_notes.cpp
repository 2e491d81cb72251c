// SPDX-License-Identifier: Apache-2.0
#include "races/shared_notes.hpp"

#include <cstring>

#include <sys/mman.h>
#include <unistd.h>

namespace tulle::races {

namespace {

std::uint64_t page() noexcept { return static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)); }
std::uint64_t pages(std::uint64_t bytes) noexcept { return (bytes + page() - 1) / page() * page(); }
std::uint64_t bytes_of_notes(process_number processes) noexcept {
    return pages(sizeof(notes) + happens_before::bytes(processes));
}

void* at(std::uint64_t address) noexcept {
    return reinterpret_cast<void*>(address); // NOLINT(performance-no-int-to-ptr)
}

// Pages take memory when they are touched, and are of no use in a core.
void* map_part(int descriptor, std::uint64_t offset, std::uint64_t bytes,
               std::uint64_t address) noexcept {
    int const flags = MAP_SHARED | MAP_NORESERVE | (address != 0 ? MAP_FIXED_NOREPLACE : 0);
    void* const made = mmap(at(address), bytes, PROT_READ | PROT_WRITE, flags, descriptor,
                            static_cast<off_t>(offset));
    if (made != MAP_FAILED) madvise(made, bytes, MADV_DONTDUMP);
    return made == MAP_FAILED ? nullptr : made;
}

} // namespace

std::uint64_t shared_notes::bytes(std::uint64_t memory_bytes, process_number processes) noexcept {
    return bytes_of_notes(processes) +
           (pages(memory_bytes) + TULLE_COHERENT_PROGRAM_BYTES) * k_cell_bytes;
}

bool shared_notes::map(int descriptor, std::uint64_t memory_bytes,
                       process_number processes) noexcept {
    std::uint64_t const notes_end = bytes_of_notes(processes);
    std::uint64_t const of_memory = pages(memory_bytes) * k_cell_bytes;
    m_notes = static_cast<notes*>(map_part(descriptor, 0, notes_end, 0));
    return m_notes != nullptr &&
           map_part(descriptor, notes_end, of_memory, cells_of(TULLE_COHERENT_FIRST)) != nullptr &&
           map_part(descriptor, notes_end + of_memory, TULLE_COHERENT_PROGRAM_BYTES * k_cell_bytes,
                    cells_of(TULLE_COHERENT_PROGRAM)) != nullptr;
}

// Whole pages are given back; the memory that lies in part beside others' shares granules with
// nobody, as blocks are aligned.
void clear_cells(std::uint64_t address, std::uint64_t bytes) noexcept {
    std::uint64_t const begin = cells_of(address);
    std::uint64_t const end = cells_of(address + (bytes + k_granule - 1) / k_granule * k_granule);
    std::uint64_t const first_page = pages(begin);
    std::uint64_t const last_page = end / page() * page();
    if (first_page >= last_page ||
        madvise(at(first_page), last_page - first_page, MADV_REMOVE) != 0) {
        std::memset(at(begin), 0, end - begin);
        return;
    }
    std::memset(at(begin), 0, first_page - begin);
    std::memset(at(last_page), 0, end - last_page);
}

} // namespace tulle::races

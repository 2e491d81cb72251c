// SPDX-License-Identifier: Apache-2.0
#include "compat/program/shared_variables.hpp"

#include "base/sanitize.hpp"
#include "compat/program/program_data.hpp"
#include "os/fixed_range.hpp"

#include <tulle/c/coherent_memory.h>
#include <tulle/c/global_memory.h>
#include <tulle/coherent_abi.h>
#include <tulle/place.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string_view>
#include <vector>

#include <dlfcn.h>
#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

namespace tulle::program {

namespace {

bool s_are_shared = false;
std::uint64_t s_memory = 0;         // then: where they lie
std::size_t s_objects_at_start = 0; // 0: before main

std::byte* bytes_at(std::uint64_t address) noexcept {
    return reinterpret_cast<std::byte*>(address); // NOLINT(performance-no-int-to-ptr)
}
std::uint64_t address_of(void const* of) noexcept { return reinterpret_cast<std::uintptr_t>(of); }

std::uint64_t size_of(ranges const& all) noexcept {
    std::uint64_t sum = 0;
    for (range const& r : all) sum += r.end - r.begin;
    return sum;
}

// Where the objects of the process lie that variables may point into, in the order in which they
// were loaded: not the kernel's, nor what was loaded after the start, as an MPI is. Addresses
// travel as complements (<tulle/place.hpp>).
std::vector<std::uint64_t> bases() {
    std::vector<std::uint64_t> found;
    auto const add = [](dl_phdr_info* info, std::size_t, void* list) {
        if (std::string_view(info->dlpi_name).substr(0, 10) != "linux-vdso")
            static_cast<std::vector<std::uint64_t>*>(list)->push_back(~info->dlpi_addr);
        return 0;
    };
    dl_iterate_phdr(add, &found);
    if (s_objects_at_start != 0) found.resize(std::min(found.size(), s_objects_at_start));
    return found;
}

std::vector<std::uint64_t> copies() {
    std::vector<std::uint64_t> found;
    for (auto const& copy : program_data::of_process().copies()) found.push_back(copy.hash);
    return found;
}

// Libraries that only one of two places has loaded, since it has run longer, do not matter.
bool are_alike(std::vector<std::uint64_t> const& a, std::vector<std::uint64_t> const& b) {
    return std::equal(a.begin(),
                      a.begin() + static_cast<std::ptrdiff_t>(std::min(a.size(), b.size())),
                      b.begin());
}

// What a place may find out, before anything is changed.
enum class finding : int { fits, is_elsewhere, has_other_addresses };
struct answer {
    finding what;
    int copy; // the first object of a library that differs; -1: none
};

answer compare_here(std::uint64_t memory, std::uint64_t bytes,
                    std::vector<std::uint64_t> const& theirs,
                    std::vector<std::uint64_t> const& their_copies) {
    // 0: it need not be reached
    if (bytes != 0 && tulle_global_local(bytes_at(~memory), bytes) == nullptr)
        return {finding::is_elsewhere, -1};
    if (!are_alike(bases(), theirs)) return {finding::has_other_addresses, -1};
    std::vector<std::uint64_t> const own = copies();
    auto const differs =
        std::mismatch(own.begin(), own.end(), their_copies.begin(), their_copies.end());
    return {finding::fits,
            differs.first == own.end() ? -1 : static_cast<int>(differs.first - own.begin())};
}

std::string words_for(answer const& found, int place) {
    std::string const other = "place " + std::to_string(place);
    if (found.what == finding::is_elsewhere)
        return other +
               " does not reach the memory of place 0: places on several hosts cannot share "
               "variables; start all of them on one host";
    if (found.what == finding::has_other_addresses)
        return other + " has the program or a library at another address than place 0, since the "
                       "system chooses addresses at random: start the program by `tulle run "
                       "--share-globals`";
    if (found.copy < 0) return {};
    auto const index = static_cast<std::size_t>(found.copy);
    return std::string("the variable ") + program_data::of_process().copies()[index].name +
           " of a library, which the linker has put among those of the program, differs between " +
           "place 0 and " + other + ": compile the program with -fPIC";
}

// Takes for good what malloc has free below an address: the C library keeps blocks for each size.
void use_up_heap_below(void const* end) noexcept {
    constexpr std::size_t k_first = 24;
    constexpr std::size_t k_last = 1032; // larger ones are cut for smaller ones
    constexpr std::size_t k_step = 16;
    for (std::size_t size = k_first; size <= k_last; size += k_step) {
        void* volatile block = nullptr;
        do {
            block = std::malloc(size); // NOLINT(clang-analyzer-unix.Malloc)
        } while (block != nullptr && address_of(block) < address_of(end));
    }
}

// Pointers into another place's heap would be taken for those of this one, if the heaps began at
// the same addresses. What cannot be had stays as it is: it only finds mistakes.
void set_heap_apart(int place) noexcept {
    if constexpr (base::k_address_sanitizer || base::k_thread_sanitizer) return;
    constexpr std::intptr_t k_heap = std::intptr_t{256} << 20U;
    constexpr std::uint64_t k_mappings = std::uint64_t{64} << 30U;
    malloc_trim(0);
    auto const apart = static_cast<std::uint64_t>(place) + 1;
    void* const end = sbrk(k_heap * static_cast<std::intptr_t>(apart));
    auto const failed = reinterpret_cast<void*>(-1); // NOLINT(performance-no-int-to-ptr)
    auto const page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    std::uint64_t const low = (address_of(end) + page - 1) / page * page;
    if (end != failed) {
        munmap(bytes_at(low), address_of(sbrk(0)) / page * page - low);
        use_up_heap_below(end);
    }
    // The system maps downwards, so what comes later lies below.
    mmap(nullptr, k_mappings * apart, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
         0);
}

void are_shared_here(int place) noexcept {
    s_are_shared = true;
    set_heap_apart(place);
}

// 0, or an errno value: then some pages are shared, and the place cannot go on.
int map_here(std::uint64_t memory, int place) {
    s_memory = ~memory;
    for (range const& r : program_data::of_process().pages()) {
        std::size_t const bytes = r.end - r.begin;
        if (!os::map_again(bytes_at(~memory), bytes_at(r.begin), bytes)) return errno;
        memory -= bytes;
    }
    are_shared_here(place);
    return 0;
}

// Of whole pages, zero. Null: there is not so much.
std::byte* take_memory(std::uint64_t bytes) noexcept {
    void* found = nullptr;
    auto const page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    if (tulle_global_malloc(&found, bytes + page) != 0) return nullptr;
    std::byte* const low = bytes_at((address_of(found) + page - 1) / page * page);
    // Fresh pages take memory when they are touched, which ought to be now if they are not fresh.
    if (madvise(low, bytes, MADV_REMOVE) != 0) std::memset(low, 0, bytes);
    return low;
}

// What is wrong with the addresses of a place, or with the memory.
std::string compare(int other, std::uint64_t memory, std::uint64_t bytes) {
    answer const found = at(
        place(other),
        [](std::uint64_t low, std::uint64_t size, std::vector<std::uint64_t> const& addresses,
           std::vector<std::uint64_t> const& objects) {
            return compare_here(low, size, addresses, objects);
        },
        ~memory, bytes, bases(), copies());
    return words_for(found, other);
}

// Of all below `count`.
std::string compare_all(int count, std::byte const* memory, std::uint64_t bytes) {
    for (int k = 1; k < count; ++k)
        if (std::string words = compare(k, address_of(memory), bytes); !words.empty()) return words;
    return {};
}

int map_at(int other, std::uint64_t memory) {
    if (other == here().index()) return map_here(~memory, other);
    return at(
        place(other), [](std::uint64_t low, int index) { return map_here(low, index); }, ~memory,
        other);
}

std::string cannot_map(int place, int error) {
    return "place " + std::to_string(place) +
           " cannot map the variables of the program: " + std::strerror(error);
}

} // namespace

sharing chosen_sharing() noexcept {
    char const* const text = ::secure_getenv("TULLE_SHARE_GLOBALS");
    std::string_view const chosen = text != nullptr ? text : "auto";
    if (chosen == "on") return sharing::on;
    return chosen == "off" ? sharing::off : sharing::automatic;
}

void prepare() {
    static std::ios_base::Init const s_streams;
    s_objects_at_start = bases().size();
}

bool are_shared() noexcept { return s_are_shared; }

std::string share_variables(int count) {
    if (s_are_shared || place_count() == 1) return {};
    program_data const& own = program_data::of_process();
    ranges const pages = own.pages();
    std::uint64_t const bytes = size_of(pages);
    std::byte* const memory = take_memory(bytes);
    if (memory == nullptr)
        return "there is no global memory for " + std::to_string(bytes) +
               " bytes of variables: set TULLE_GLOBAL_MEMORY";
    if (std::string words = compare_all(count, memory, bytes); !words.empty()) return words;
    own.copy_pages(pages, memory);
    for (int k = count - 1; k >= 0; --k)
        if (int const error = map_at(k, address_of(memory))) return cannot_map(k, error);
    return {};
}

std::string share_variables_with(int place) {
    std::uint64_t const bytes = size_of(program_data::of_process().pages());
    if (std::string words = compare(place, s_memory, bytes); !words.empty()) return words;
    int const error = map_at(place, s_memory);
    return error != 0 ? cannot_map(place, error) : std::string();
}

bool can_be_coherent() noexcept {
    return program_data::of_process().base() == 0 && !program_data::of_process().pages().empty() &&
           program_data::of_process().pages().front().begin - TULLE_COHERENT_PROGRAM <
               TULLE_COHERENT_PROGRAM_BYTES;
}

std::string share_variables_coherently() {
    if (s_are_shared) return {};
    if (std::string words = compare_all(place_count(), nullptr, 0); !words.empty()) return words;
    for (range const& r : program_data::of_process().pages())
        if (int const error = tulle_coherent_adopt(bytes_at(r.begin), r.end - r.begin))
            return cannot_map(0, -error);
    for (int k = place_count() - 1; k >= 0; --k)
        at(
            place(k), [](int here) { are_shared_here(here); }, k);
    return {};
}

// Variables of such code lie among the program's.
char const* foreign_function() noexcept {
    constexpr std::array<char const*, 4> k_names{"tulle_init", "tulle_spawn", "malloc",
                                                 "__sanitizer_print_stack_trace"};
    for (char const* const name : k_names) {
        void const* const code = dlsym(RTLD_DEFAULT, name);
        if (code != nullptr && program_data::of_process().has(code)) return name;
    }
    return nullptr;
}

bool has_this_library() noexcept {
    return program_data::of_process().has(reinterpret_cast<void const*>(&has_this_library));
}

} // namespace tulle::program

// SPDX-License-Identifier: Apache-2.0
#include "compat/pthread/threads/first_values.hpp"

#include "base/option.hpp"
#include "compat/pthread/c_library/libc.hpp"
#include "sched/scheduler.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <new>

#include <link.h>
#include <sys/mman.h>

namespace tulle::posix {

namespace {

// The dynamic linker's list of libraries with variables: by their numbers, when each came or went,
// and its link map, or null.
struct listed {
    std::size_t generation;
    void* library;
};
struct list_of_libraries {
    std::size_t count;
    list_of_libraries* next;
    listed libraries[1];
};

// What the dynamic linker has behind its pointer to that list, in the GNU C library since 2.34.
struct around_list {
    list_of_libraries* list;
    std::size_t libraries_at_start;
    std::size_t bytes;          // of the variables that are in each block
    std::size_t bytes_for_pace; // how many may be added of those that need not be there
    void const* vector_of_main;
};

constexpr std::size_t k_most_libraries = 32, k_most_bytes = 4096;

// Null: it is not known where it is.
list_of_libraries* const* s_list = nullptr;
first_values::range s_range;

// Others change it meanwhile: what is read holds for the moment before that.
template <class T> T now(T const& word) noexcept {
    return __atomic_load_n(&word, __ATOMIC_RELAXED);
}

// What one worker knows.
class known_values {
public:
    [[nodiscard]] bool give(std::byte* block, vector_entry const* vector) const noexcept {
        if (m_parts == 0 || vector->at != m_generation || !holds() || has_late(vector))
            return false;
        std::byte const* from = m_values.data();
        for (std::size_t k = 0; k != m_parts; ++k) {
            part const& p = m_part[k];
            std::memcpy(block + p.at, from, p.bytes);
            from += p.bytes;
        }
        return true;
    }
    // Where they were not to be had they are not looked for again before a library comes or goes.
    void learn(std::byte const* block, vector_entry const* vector) noexcept {
        if (m_is_refused && vector->at == m_generation && holds()) return;
        m_parts = 0;
        m_is_refused = true;
        m_generation = vector->at;
        if (!note_list(*now(*s_list), vector)) return;
        finding all{*this, block, vector};
        dl_iterate_phdr(&add_library, &all);
        if (all.is_too_much || all.found != m_count || !holds()) return;
        m_is_refused = false;
        m_parts = all.parts;
    }
    void forget() noexcept {
        m_parts = 0;
        m_is_refused = false;
    }

private:
    struct part {
        std::ptrdiff_t at; // from the thread pointer
        std::size_t bytes;
    };
    struct finding {
        known_values& to;
        std::byte const* block;
        vector_entry const* vector;
        std::size_t found = 0; // libraries of the list
        std::size_t parts = 0, bytes = 0;
        bool is_too_much = false;
    };

    // In these all are looked at, without a branch for each: mostly nothing is found.

    // Those of a library that came later lie elsewhere, in memory of their own.
    [[nodiscard]] bool has_late(vector_entry const* vector) const noexcept {
        std::uintptr_t any = 0;
        for (std::size_t k = 1; k + 1 < m_libraries; ++k)
            any |= reinterpret_cast<std::uintptr_t>(vector[k].made_late);
        return any != 0;
    }
    // A library that comes gets the first number that is free.
    [[nodiscard]] bool holds() const noexcept {
        listed const* const libraries = now(*s_list)->libraries;
        std::uintptr_t differs = 0;
        for (std::size_t k = 0; k != m_libraries; ++k) {
            differs |= now(libraries[k].generation) ^ m_seen[k].generation;
            differs |= reinterpret_cast<std::uintptr_t>(now(libraries[k].library)) ^
                       reinterpret_cast<std::uintptr_t>(m_seen[k].library);
        }
        return differs == 0;
    }
    // With the first free number behind all others. False: there are too many, or one has come
    // since the vector was made.
    [[nodiscard]] bool note_list(list_of_libraries const& list,
                                 vector_entry const* vector) noexcept {
        m_libraries = m_count = 0;
        std::size_t const count = now(list.count);
        std::size_t used = 0;
        for (std::size_t k = 0; k != count; ++k)
            if (now(list.libraries[k].library) != nullptr) used = k + 1;
        bool const is_of_vector = used <= reinterpret_cast<std::uintptr_t>(vector[-1].at) + 1;
        if (now(list.next) != nullptr || used >= std::min(count, k_most_libraries) || !is_of_vector)
            return false;
        auto const newest = reinterpret_cast<std::uintptr_t>(m_generation);
        bool are_of_vector = true;
        for (std::size_t k = 0; k != used + 1; ++k) {
            m_seen[k] = {now(list.libraries[k].generation), now(list.libraries[k].library)};
            if (k == 0 || m_seen[k].library == nullptr) continue; // their numbers begin with 1
            ++m_count;
            are_of_vector &= m_seen[k].generation <= newest;
        }
        m_libraries = used + 1;
        return are_of_vector;
    }
    static int add_library(dl_phdr_info* library, std::size_t, void* to) noexcept {
        auto& all = *static_cast<finding*>(to);
        for (int k = 0; k != library->dlpi_phnum; ++k)
            if (library->dlpi_phdr[k].p_type == PT_TLS)
                all.to.add(all, library->dlpi_tls_modid, library->dlpi_phdr[k].p_memsz);
        return 0;
    }
    // One whose variables are not in the block may get them there later, and neither its number nor
    // its generation tells of that: then nothing is to be had.
    void add(finding& all, std::size_t number, std::size_t bytes) noexcept {
        if (number + 1 >= m_libraries) return static_cast<void>(all.is_too_much = true);
        auto const* const at = static_cast<std::byte const*>(all.vector[number].at);
        bool const is_in_block =
            at >= all.block - s_range.before && at < all.block + s_range.behind;
        if (!is_in_block) return static_cast<void>(all.is_too_much = true);
        ++all.found;
        bool const is_left = at - all.block == s_range.left && bytes == s_range.left_bytes;
        if (bytes == 0 || is_left) return;
        if (all.parts == m_part.size() || bytes > m_values.size() - all.bytes)
            return static_cast<void>(all.is_too_much = true);
        std::memcpy(m_values.data() + all.bytes, at, bytes);
        m_part[all.parts++] = {at - all.block, bytes};
        all.bytes += bytes;
    }

    std::size_t m_parts = 0;      // 0: nothing is known
    bool m_is_refused = false;    // and nothing is to be had
    std::size_t m_libraries = 0;  // numbers that have been noted
    std::size_t m_count = 0;      // libraries among these
    void* m_generation = nullptr; // of a vector
    std::array<part, k_most_libraries> m_part;
    std::array<listed, k_most_libraries> m_seen;
    std::array<std::byte, k_most_bytes> m_values;
};

std::array<known_values*, 2 * base::k_most_workers> s_known{}; // by worker, and substitutes

// Null: the caller is no worker. It stays on it, as nothing here waits but for the dynamic linker.
known_values** known_here() noexcept {
    sched::worker const* const w = sched::this_worker();
    if (s_list == nullptr || w == nullptr || w->is_guest()) return nullptr;
    return &s_known[static_cast<std::size_t>(w->index)];
}

// Not by the program's allocator, which may wait for a lock of the program's, so that the caller
// would go on elsewhere. Null: no memory.
known_values* make_known() noexcept {
    void* const memory = mmap(nullptr, sizeof(known_values), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? nullptr : ::new (memory) known_values;
}

// Entries of the tables that the C library has for debuggers: {bits, count, offset}; and sizes.
std::size_t table_entry(char const* name, int which) noexcept {
    auto const* const found = static_cast<std::uint32_t const*>(find_symbol(name));
    return found == nullptr ? ~std::size_t{0} : found[which];
}

bool are_as_here() noexcept {
    return table_entry("_thread_db_sizeof_dtv_slotinfo", 0) == sizeof(listed) &&
           table_entry("_thread_db_dtv_slotinfo_gen", 2) == offsetof(listed, generation) &&
           table_entry("_thread_db_dtv_slotinfo_map", 2) == offsetof(listed, library) &&
           table_entry("_thread_db_dtv_slotinfo_list_len", 2) ==
               offsetof(list_of_libraries, count) &&
           table_entry("_thread_db_dtv_slotinfo_list_next", 2) ==
               offsetof(list_of_libraries, next) &&
           table_entry("_thread_db_dtv_slotinfo_list_slotinfo", 2) ==
               offsetof(list_of_libraries, libraries);
}

} // namespace

void first_values::prepare(range const& variables) noexcept {
    auto* const linker = static_cast<std::byte*>(find_symbol("_rtld_global"));
    std::size_t const offset = table_entry("_thread_db_rtld_global__dl_tls_dtv_slotinfo_list", 2);
    if (linker == nullptr || offset == ~std::size_t{0} || !are_as_here()) return;
    s_range = variables;
    s_list = reinterpret_cast<list_of_libraries* const*>(linker + offset);
}

void first_values::keep_later_ones_apart(vector_entry const* of_main) noexcept {
    if (s_list == nullptr || of_main == nullptr) return;
    auto* const around = reinterpret_cast<around_list*>(const_cast<list_of_libraries**>(s_list));
    if (around->vector_of_main != of_main) return;
    __atomic_store_n(&around->bytes_for_pace, std::size_t{0}, __ATOMIC_RELAXED);
}

bool first_values::give(std::byte* block, vector_entry const* vector) noexcept {
    known_values* const* const known = known_here();
    return known != nullptr && *known != nullptr && (*known)->give(block, vector);
}

void first_values::learn(std::byte const* block, vector_entry const* vector) noexcept {
    known_values** const known = known_here();
    if (known == nullptr) return;
    if (*known == nullptr) *known = make_known();
    if (*known != nullptr) (*known)->learn(block, vector);
}

void first_values::forget() noexcept {
    for (known_values* const each : s_known)
        if (each != nullptr) each->forget();
}

} // namespace tulle::posix

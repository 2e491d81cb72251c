// SPDX-License-Identifier: Apache-2.0
#include "races/detector.hpp"

#include "base/assert.hpp"
#include "dsm/atomic_access.hpp"
#include "dsm/compiled_scheme.hpp"
#include "gmem_access/memory.hpp"
#include "os/shared_memory.hpp"
#include "races/report.hpp"
#include "races/settings.hpp"
#include "races/shared_notes.hpp"

#include <tulle/c/place.h>
#include <tulle/coherent_abi.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace tulle::races {

namespace {

struct addresses {
    std::uint64_t low = 0;
    std::uint64_t bytes = 0;

    [[nodiscard]] bool contain(std::uint64_t address) const noexcept {
        return address - low < bytes;
    }
    [[nodiscard]] std::uint64_t end() const noexcept { return low + bytes; }
};

// Of what an instruction, or a call, accesses.
struct touched {
    std::uint64_t address;
    std::uint64_t bytes;
    bool stores;
    bool is_atomic;
    void const* pc; // it returns there
};

class detector {
public:
    detector(shared_notes const& shared, invitation const& chosen) noexcept
        : m_shared(shared),
          m_order(shared.clocks(), chosen.processes),
          m_memory{TULLE_COHERENT_FIRST, chosen.memory_bytes},
          m_own(static_cast<process_number>(tulle_here())) {
        m_order.begin(m_own);
        m_known = m_order.known_to(m_own);
    }

    [[nodiscard]] happens_before& order() noexcept { return m_order; }
    [[nodiscard]] notes& shared() noexcept { return m_shared.all(); }
    [[nodiscard]] process_number own() const noexcept { return m_own; }
    void watch(addresses const& variables) noexcept { m_variables = variables; }

    // Bytes that a call names may go on behind the memory, and none are meant by a negative number.
    void look_at(touched const& t) noexcept {
        addresses const& part = m_memory.contain(t.address) ? m_memory : m_variables;
        if (!part.contain(t.address) || t.bytes == 0 || t.bytes > PTRDIFF_MAX) return;
        std::uint64_t const end = std::min(t.address + t.bytes, part.end());
        access a{m_own, m_known[m_own], 0, 0, t.stores, t.is_atomic, site_of(t.pc)};
        for (std::uint64_t at = t.address; at < end; at = (at / k_granule + 1) * k_granule) {
            std::uint64_t const word = at / k_granule * k_granule;
            a.first = static_cast<std::uint32_t>(at - word);
            a.last = static_cast<std::uint32_t>(std::min(end - word, k_granule) - 1);
            record(cell(a), word);
        }
    }

private:
    // Inside of the call.
    [[nodiscard]] site site_of(void const* pc) noexcept {
        bool is_new = false;
        return static_cast<site>(
            shared().sites.insert(reinterpret_cast<std::uintptr_t>(pc) - 1, is_new));
    }
    void record(cell own, std::uint64_t word) noexcept {
        granule_of(word).record(
            own, ++m_chance, [this](process_number p) { return m_known[p]; },
            [&](cell other) {
                if (shared().pairs.insert(own.where(), other.where()))
                    tell({own, other, word}, shared());
            });
    }

    shared_notes m_shared;
    happens_before m_order;
    addresses m_memory;
    addresses m_variables; // that all share
    process_number m_own;
    std::span<epoch const> m_known;
    unsigned m_chance = 0;
};

detector* s_detector = nullptr; // of this process, from begin or join on
bool s_is_main = false;

void look_at(touched const& t) noexcept {
    if (s_detector != nullptr) s_detector->look_at(t);
}

int start(int descriptor, invitation const& chosen) {
    shared_notes shared;
    if (!shared.map(descriptor, chosen.memory_bytes, chosen.processes)) return -errno;
    s_detector = new detector(shared, chosen);
    return 0;
}

// Races are no failure of the program itself, so that tests of it would not see them.
void end() noexcept {
    if (!s_is_main || s_detector == nullptr) return;
    notes const& all = s_detector->shared();
    if (all.found.load(std::memory_order_relaxed) == 0) return;
    std::fflush(nullptr);
    tell_end(all);
    if (auto const code = static_cast<int>(chosen_settings().exit_code); code != 0) _exit(code);
}

object_key key_of(void const* object) noexcept { return reinterpret_cast<object_key>(object); }
process_number number(int process) noexcept { return static_cast<process_number>(process); }

} // namespace

bool is_asked_for() noexcept { return dsm::s_compiled_scheme == dsm::scheme::races; }

int begin(invitation& made) noexcept try {
    gmem::segments const* const table = gmem_access::memory_of_caller().table();
    if (table == nullptr) return -gmem_access::memory_of_caller().error();
    if (table->low() != TULLE_COHERENT_FIRST) return -EADDRNOTAVAIL;
    made = {getpid(), -1, table->size(), number(tulle_place_count())};
    if (made.processes > k_most_processes) return -EUSERS;
    static os::shared_file s_file; // others open it by its number
    s_file = os::shared_file::create("tulle-races");
    if (!s_file.is_open() || !s_file.grow(shared_notes::bytes(made.memory_bytes, made.processes)))
        return -errno;
    made.descriptor = s_file.number();
    s_is_main = true;
    return start(made.descriptor, made);
} catch (std::system_error const& e) {
    return -e.code().value();
} catch (std::exception const&) {
    return -ENOMEM;
}

int join(invitation const& from) noexcept try {
    std::string const path =
        "/proc/" + std::to_string(from.process) + "/fd/" + std::to_string(from.descriptor);
    os::shared_file const file = os::shared_file::adopt(open(path.c_str(), O_RDWR | O_CLOEXEC));
    return file.is_open() ? start(file.number(), from) : -errno;
} catch (std::bad_alloc const&) {
    return -ENOMEM;
}

void watch_variables(std::uint64_t low, std::uint64_t high, bool are_shared) noexcept {
    bool const have_cells = low - TULLE_COHERENT_PROGRAM < TULLE_COHERENT_PROGRAM_BYTES;
    if (have_cells && are_shared) s_detector->watch({low, high - low});
}

void allocated(void const* address, std::size_t bytes, void const* pc) noexcept {
    s_detector->shared().blocks.add({reinterpret_cast<std::uintptr_t>(address), bytes,
                                     reinterpret_cast<std::uintptr_t>(pc) - 1});
}
void freed(void const* address) noexcept {
    auto const at = reinterpret_cast<std::uintptr_t>(address);
    clear_cells(at, s_detector->shared().blocks.remove(at));
}

void begin_process(void const* creation) noexcept {
    s_detector->order().begin(s_detector->own());
    s_detector->order().acquire(key_of(creation), s_detector->own());
}
void acquire(void const* object, int process) noexcept {
    s_detector->order().acquire(key_of(object), number(process));
}
void release(void const* object, int process) noexcept {
    s_detector->order().release(key_of(object), number(process));
}
void replace(void const* object, int process) noexcept {
    s_detector->order().replace(key_of(object), number(process));
}
void forget(void const* object) noexcept { s_detector->order().forget(key_of(object)); }
void hand(int from, int to) noexcept { s_detector->order().hand(number(from), number(to)); }
void acquire_fence() noexcept { s_detector->order().acquire_fence(s_detector->own()); }
void release_fence() noexcept { s_detector->order().release_fence(s_detector->own()); }

} // namespace tulle::races

namespace races = tulle::races;
namespace dsm = tulle::dsm;

// NOLINTBEGIN(bugprone-reserved-identifier)
void tulle_race_start(std::uint32_t abi) {
    constexpr std::uint32_t k_version = (1U << TULLE_COHERENT_SCHEME_SHIFT) - 1;
    TULLE_CHECK((abi & k_version) == TULLE_COHERENT_ABI,
                "races: an object file was compiled for version %u of the interface, and this "
                "library has %u; compile it again with the `tulle cc` of this library",
                abi & k_version, TULLE_COHERENT_ABI);
    bool const is_first = !dsm::s_compiled_scheme;
    TULLE_CHECK(dsm::compile_for(dsm::scheme::races),
                "races: some object files of the program were compiled with --scheme=races and "
                "others without; compile all of them with the same --scheme");
    if (is_first) std::atexit(&races::end);
}
// NOLINTEND(bugprone-reserved-identifier)

void tulle_race_load(std::uint64_t address, std::uint64_t bytes) {
    races::look_at({address, bytes, false, false, __builtin_return_address(0)});
}
void tulle_race_store(std::uint64_t address, std::uint64_t bytes) {
    races::look_at({address, bytes, true, false, __builtin_return_address(0)});
}

std::uint64_t tulle_race_atomic(std::uint64_t address, std::uint64_t operand,
                                std::uint64_t expected, std::uint32_t action) {
    std::uint64_t before = 0;
    std::uint32_t const kind = action & 0xFFU;
    std::uint64_t const bytes = 1U << (action >> TULLE_COHERENT_ATOMIC_SIZE_SHIFT & 0xFU);
    void const* const pc = __builtin_return_address(0);
    auto const access = [&] {
        before = dsm::access_atomically(address, operand, expected, action);
        bool const stores = kind == TULLE_COHERENT_ATOMIC_COMPARE
                                ? before == expected
                                : kind != TULLE_COHERENT_ATOMIC_LOAD;
        races::look_at({address, bytes, stores, true, pc});
        return stores;
    };
    if (races::s_detector == nullptr) {
        access();
        return before;
    }
    races::s_detector->order().access_atomically(
        address, races::s_detector->own(),
        {static_cast<int>(action >> TULLE_COHERENT_ATOMIC_ORDER_SHIFT & 0xFU),
         kind != TULLE_COHERENT_ATOMIC_STORE, kind == TULLE_COHERENT_ATOMIC_STORE},
        access);
    return before;
}

void tulle_race_fence(std::uint32_t order) {
    if (races::s_detector == nullptr) return;
    auto& all = races::s_detector->order();
    if (order != __ATOMIC_RELEASE) all.acquire_fence(races::s_detector->own());
    if (order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST)
        all.release_fence(races::s_detector->own());
}

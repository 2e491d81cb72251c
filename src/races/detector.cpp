// SPDX-License-Identifier: Apache-2.0
#include "races/detector.hpp"

#include "dsm/atomic_access.hpp"
#include "dsm/compiled_scheme.hpp"
#include "gmem_access/memory.hpp"
#include "os/mapped_range.hpp"
#include "os/shared_memory.hpp"
#include "races/own_variables.hpp"
#include "races/report.hpp"
#include "races/settings.hpp"
#include "races/shared_notes.hpp"

#include <tulle/c/place.h>
#include <tulle/coherent_abi.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

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
    void watch(addresses const& variables) noexcept {
        m_variables = variables;
        m_own_variables.reset();
    }
    void watch_own(addresses const& variables) {
        if (!m_own_variables) m_own_variables.emplace(variables.low, variables.bytes);
    }
    // This process begins what another one has created.
    void begin(object_key creation) {
        m_order.begin(m_own);
        m_order.acquire(creation, m_own);
        m_at_birth.assign(m_known.begin(), m_known.end());
        if (m_own_variables) m_own_variables->begin();
    }

    // Bytes that a call names may go on behind the memory, and none are meant by a negative number.
    void look_at(touched const& t) noexcept {
        if (t.bytes == 0 || t.bytes > PTRDIFF_MAX) return;
        if (m_own_variables && m_own_variables->contain(t.address))
            return each_word(t, m_own_variables->end(),
                             [this](cell own, std::uint64_t word) { look_at_own(own, word); });
        addresses const& part = m_memory.contain(t.address) ? m_memory : m_variables;
        if (part.contain(t.address))
            each_word(t, part.end(), [this](cell own, std::uint64_t word) { record(own, word); });
    }
    // Of a store that was looked at: where the pointer leads that it stores.
    void look_at_pointer(std::uint64_t address, std::uint64_t pointer, void const* pc) noexcept {
        if (pointer == 0 || is_shared(pointer) || !is_shared(address) ||
            m_constants.contains(pointer))
            return;
        site const where = site_of(pc);
        std::uint8_t& looks = m_looks[where % m_looks.size()];
        if (looks == k_most_looks) return;
        ++looks;
        os::named_range const target = os::mapping_of(0, pointer);
        if (!target.is_own) {
            m_constants = target.range;
        } else if (shared().pairs.insert(where, k_pointer)) {
            std::uint64_t const word = address / k_granule * k_granule;
            auto const first = static_cast<std::uint32_t>(address - word);
            tell_pointer(cell(access{m_own, 0, first, 7, true, false, where}), word, pointer,
                         shared());
        }
    }

private:
    static constexpr site k_pointer = site{1} << k_site_bits; // no place
    static constexpr std::uint8_t k_most_looks = 64;          // each takes some time

    [[nodiscard]] bool is_shared(std::uint64_t address) const noexcept {
        return m_memory.contain(address) || m_variables.contain(address);
    }
    template <class F> void each_word(touched const& t, std::uint64_t limit, F f) noexcept {
        std::uint64_t const end = std::min(t.address + t.bytes, limit);
        access a{m_own, m_known[m_own], 0, 0, t.stores, t.is_atomic, site_of(t.pc)};
        for (std::uint64_t at = t.address; at < end; at = (at / k_granule + 1) * k_granule) {
            std::uint64_t const word = at / k_granule * k_granule;
            a.first = static_cast<std::uint32_t>(at - word);
            a.last = static_cast<std::uint32_t>(std::min(end - word, k_granule) - 1);
            f(cell(a), word);
        }
    }
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
                    tell({mistake::race, own, other, word}, shared());
            });
    }
    void look_at_own(cell own, std::uint64_t word) noexcept {
        m_own_variables->look_at(
            own, word,
            [this](process_number p) {
                if (p == m_own) return m_known[p];
                return m_at_birth.empty() ? epoch{0} : m_at_birth[p];
            },
            [&](cell other) {
                if (shared().pairs.insert(own.where(), other.where()))
                    tell({mistake::own_variable, own, other, word}, shared());
            });
    }

    shared_notes m_shared;
    happens_before m_order;
    addresses m_memory;
    addresses m_variables; // that all share
    process_number m_own;
    std::span<epoch const> m_known;
    unsigned m_chance = 0;
    std::optional<own_variables> m_own_variables;
    std::vector<epoch> m_at_birth; // what this process knew then; empty: it is main's
    os::address_range m_constants; // to which a pointer has led: others have them, too
    std::array<std::uint8_t, 4096> m_looks{};
};

detector* s_detector = nullptr; // of this process, from begin or join on
// The lock of the clock of an atomic variable is held: then who comes is a handler of a signal.
volatile std::sig_atomic_t s_is_at_clock = 0;
pid_t s_main = 0; // this process, if it is main's, and not a child of it

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
    if (s_detector == nullptr || s_main != getpid()) return;
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
    s_main = made.process;
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
    if (!have_cells) return;
    if (are_shared)
        s_detector->watch({low, high - low});
    else
        s_detector->watch_own({low, high - low});
}

void allocated(void const* address, std::size_t bytes, void const* pc) noexcept {
    clear_cells(reinterpret_cast<std::uintptr_t>(address), bytes);
    s_detector->shared().blocks.add({reinterpret_cast<std::uintptr_t>(address), bytes,
                                     reinterpret_cast<std::uintptr_t>(pc) - 1});
}
void freed(void const* address, void const* pc) noexcept {
    auto const begin = reinterpret_cast<std::uintptr_t>(address);
    block_list& blocks = s_detector->shared().blocks;
    if (auto const known = blocks.find(begin); known && known->address == begin)
        look_at({begin, known->bytes, true, false, pc});
    blocks.remove(begin);
}

void begin_process(void const* creation) noexcept { s_detector->begin(key_of(creation)); }
void acquire(void const* object, int process) noexcept {
    s_detector->order().acquire(key_of(object), number(process));
}
void release(void const* object, int process) noexcept {
    s_detector->order().release(key_of(object), number(process));
}
void replace(void const* object, int process) noexcept {
    s_detector->order().replace(key_of(object), number(process));
}
void hand(int from, int to) noexcept { s_detector->order().hand(number(from), number(to)); }
void acquire_fence() noexcept { s_detector->order().acquire_fence(s_detector->own()); }
void release_fence() noexcept { s_detector->order().release_fence(s_detector->own()); }

} // namespace tulle::races

namespace races = tulle::races;
namespace dsm = tulle::dsm;

// NOLINTBEGIN(bugprone-reserved-identifier)
void tulle_race_start(std::uint32_t abi) {
    bool const is_first = !dsm::has_checks();
    dsm::start_object(abi, dsm::scheme::races);
    if (is_first) std::atexit(&races::end);
}
// NOLINTEND(bugprone-reserved-identifier)

void tulle_race_load(std::uint64_t address, std::uint64_t bytes) {
    races::look_at({address, bytes, false, false, __builtin_return_address(0)});
}
void tulle_race_store(std::uint64_t address, std::uint64_t bytes) {
    races::look_at({address, bytes, true, false, __builtin_return_address(0)});
}

void tulle_race_store_pointer(std::uint64_t address, std::uint64_t pointer) {
    if (races::s_detector == nullptr) return;
    void const* const pc = __builtin_return_address(0);
    races::look_at({address, sizeof pointer, true, false, pc});
    races::s_detector->look_at_pointer(address, pointer, pc);
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
    if (races::s_is_at_clock != 0)
        return dsm::access_atomically(address, operand, expected, action); // which is not recorded
    races::s_is_at_clock = 1;
    races::s_detector->order().access_atomically(
        address, races::s_detector->own(),
        {static_cast<int>(action >> TULLE_COHERENT_ATOMIC_ORDER_SHIFT & 0xFU),
         kind != TULLE_COHERENT_ATOMIC_STORE, kind == TULLE_COHERENT_ATOMIC_STORE},
        access);
    races::s_is_at_clock = 0;
    return before;
}

void tulle_race_fence(std::uint32_t order) {
    if (races::s_detector == nullptr) return;
    auto& all = races::s_detector->order();
    if (order != __ATOMIC_RELEASE) all.acquire_fence(races::s_detector->own());
    if (order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST)
        all.release_fence(races::s_detector->own());
}

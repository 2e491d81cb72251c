// SPDX-License-Identifier: Apache-2.0
#include "inject.hpp"

#include <tulle/runtime.hpp>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include <execinfo.h>
#include <link.h>
#include <unistd.h>
#include <unwind.h>

extern "C" [[gnu::weak]] char __start_library_part[];
// Both made by the linker where there is such a section.
extern "C" [[gnu::weak]] char __stop_library_part[];

namespace fault {
namespace {

constexpr std::array<std::string_view, static_cast<std::size_t>(kind::count)> k_names = {
    "none",    "allocation",   "mmap",        "munmap",       "mprotect",
    "madvise", "advise-batch", "futex-eintr", "futex-eagain", "membarrier",
    "thread",  "affinity",     "file",        "shared-file",  "read-memory"};

// --- who calls -----------------------------------------------------------------------------------

enum class origin { library, passes_on, program, other };

struct object {
    std::uintptr_t low = 0, high = 0;
    origin is = origin::other;
};
constexpr std::size_t k_most_objects = 16;
std::array<object, k_most_objects> g_objects;
std::size_t g_object_count = 0; // 0 until the constructors run; nothing counts before

origin origin_of(char const* name) noexcept {
    std::string_view const path(name);
    if (path.find("libtulle") != path.npos) return origin::library;
    if (path.find("libstdc++") != path.npos || path.find("libc.so") != path.npos)
        return origin::passes_on;
    return path.empty() ? origin::program : origin::other;
}

int note_object(dl_phdr_info* found, std::size_t, void*) noexcept {
    origin const is = origin_of(found->dlpi_name);
    for (int k = 0; k < found->dlpi_phnum && is != origin::other && g_object_count < k_most_objects;
         ++k) {
        auto const& part = found->dlpi_phdr[k];
        if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
        std::uintptr_t const low = found->dlpi_addr + part.p_vaddr;
        g_objects[g_object_count++] = {low, low + part.p_memsz, is};
    }
    return 0;
}

[[gnu::constructor]] void note_objects() noexcept { dl_iterate_phdr(&note_object, nullptr); }

origin origin_at(std::uintptr_t address) noexcept {
    if (address >= reinterpret_cast<std::uintptr_t>(__start_library_part) &&
        address < reinterpret_cast<std::uintptr_t>(__stop_library_part))
        return origin::library;
    for (std::size_t k = 0; k < g_object_count; ++k) {
        if (address >= g_objects[k].low && address < g_objects[k].high) return g_objects[k].is;
    }
    return origin::other;
}

struct walk {
    std::uintptr_t from;
    origin first; // of the frame at `from`
    bool begun = false;
    bool found = false;
};

// Up through the frames of the same standing as the caller, until one tells.
_Unwind_Reason_Code look_at_frame(_Unwind_Context* frame, void* state) noexcept {
    auto& w = *static_cast<walk*>(state);
    std::uintptr_t const address = _Unwind_GetIP(frame);
    w.begun = w.begun || address == w.from;
    if (!w.begun) return _URC_NO_REASON;
    origin const is = origin_at(address);
    w.found = is == origin::library;
    return is == w.first ? _URC_NO_REASON : _URC_END_OF_STACK;
}

bool is_library(void* caller) noexcept {
    auto const address = reinterpret_cast<std::uintptr_t>(caller);
    origin const is = origin_at(address);
    if (is == origin::library || is == origin::other) return is == origin::library;
    walk state{address, is};
    _Unwind_Backtrace(&look_at_frame, &state);
    return state.found;
}

// --- which call fails ----------------------------------------------------------------------------

kind g_kind = kind::none;
std::uint64_t g_number = 0;
bool g_lasting = false; // all from that one on
bool g_shows_where = false;
std::atomic<bool> g_armed{false};
bool g_is_over = false; // what is left of the program runs in peace
int g_place = -1;       // -1: the program is no place
bool g_meets_it = true; // this place meets the failure
std::atomic<std::uint64_t> g_calls{0};
std::atomic<bool> g_reached{false};
std::atomic<int> g_errors{0};
std::array<std::atomic<std::uint64_t>, static_cast<std::size_t>(kind::count)> g_counts;

// "KIND:N", or "KIND:N+" for all from the N-th on.
bool parse(std::string_view text) noexcept {
    auto const colon = text.find(':');
    for (std::size_t k = 0; k < k_names.size(); ++k) {
        if (text.substr(0, colon) == k_names[k]) g_kind = static_cast<kind>(k);
    }
    if (colon == text.npos || g_kind == kind::none) return false;
    char* end = nullptr;
    g_number = std::strtoull(text.data() + colon + 1, &end, 10);
    g_lasting = *end == '+';
    return g_number != 0;
}

// TULLE_PLACE begins with the number of the place; the library unsets it when it takes part.
[[gnu::constructor]] void read_place() noexcept {
    char const* const own = std::getenv("TULLE_PLACE");
    char const* const meets = std::getenv("FAULT_PLACE");
    if (own == nullptr || meets == nullptr) return;
    g_place = std::atoi(own);
    g_meets_it = g_place == std::atoi(meets);
}

// Before main, since a cold program counts from the start. The arguments are where the C library
// leaves them.
[[gnu::constructor]] void read_arguments(int argc, char** argv) noexcept {
    g_shows_where = argc == 4 && std::strcmp(argv[3], "--where") == 0;
    if (argc == 1 ||
        (argc == (g_shows_where ? 4 : 3) && std::strcmp(argv[1], "--fail") == 0 && parse(argv[2])))
        return;
    std::fprintf(stderr, "usage: %s [--fail KIND:N|KIND:N+ [--where]]\n", argv[0]);
    std::_Exit(2);
}

// The stack of the call that fails; the names are those that addr2line finds.
void show_stack() noexcept {
    constexpr int k_most_frames = 64;
    void* frames[k_most_frames];
    int const count = backtrace(frames, k_most_frames);
    backtrace_symbols_fd(frames, count, STDERR_FILENO);
}

// --- what is held --------------------------------------------------------------------------------

// Open addressing; a removed entry stays as a mark.
constexpr std::size_t k_most_blocks = std::size_t{1} << 18U;
constexpr std::uintptr_t k_removed = 1;
std::array<std::atomic<std::uintptr_t>, k_most_blocks> g_blocks;
std::atomic<std::int64_t> g_block_count{0}, g_mapped{0};

std::size_t place_of(std::uintptr_t address) noexcept {
    return (address * 0x9E3779B97F4A7C15U) >> (64 - 18);
}

} // namespace

bool fails_now(kind of, void* caller) noexcept {
    int const kept = errno;
    bool const counts = g_armed.load(std::memory_order_relaxed) && is_library(caller);
    errno = kept;
    if (!counts) return false;
    g_counts[static_cast<std::size_t>(of)].fetch_add(1, std::memory_order_relaxed);
    if (of != g_kind) return false;
    std::uint64_t const number = g_calls.fetch_add(1, std::memory_order_relaxed) + 1;
    bool const fails = number == g_number || (g_lasting && number > g_number);
    if (!fails) return false;
    g_reached.store(true, std::memory_order_relaxed);
    if (g_shows_where) show_stack();
    return true;
}

void note_block(void* block, void* caller) noexcept {
    if (block == nullptr || !is_library(caller)) return;
    auto const address = reinterpret_cast<std::uintptr_t>(block);
    for (std::size_t k = place_of(address);; k = (k + 1) % k_most_blocks) {
        std::uintptr_t held = g_blocks[k].load(std::memory_order_relaxed);
        if (held <= k_removed &&
            g_blocks[k].compare_exchange_strong(held, address, std::memory_order_relaxed))
            break;
    }
    g_block_count.fetch_add(1, std::memory_order_relaxed);
}

void forget_block(void* block) noexcept {
    auto address = reinterpret_cast<std::uintptr_t>(block);
    for (std::size_t k = place_of(address); block != nullptr; k = (k + 1) % k_most_blocks) {
        std::uintptr_t const held = g_blocks[k].load(std::memory_order_relaxed);
        if (held == 0) return;
        if (held != address) continue;
        g_blocks[k].store(k_removed, std::memory_order_relaxed);
        g_block_count.fetch_sub(1, std::memory_order_relaxed);
        return;
    }
}

void note_mapping(std::ptrdiff_t bytes, void* caller) noexcept {
    if (is_library(caller)) g_mapped.fetch_add(bytes, std::memory_order_relaxed);
}

void arm() noexcept { g_armed.store(!g_is_over && g_meets_it, std::memory_order_relaxed); }
bool is_lasting() noexcept { return g_lasting && !g_is_over; }
void disarm() noexcept { g_armed.store(false, std::memory_order_relaxed); }

void require(bool condition, char const* sentence) noexcept {
    if (condition) return;
    disarm();
    std::fprintf(stderr, "fault: %s\n", sentence);
    std::_Exit(1);
}

void note_error(int error, char const* what) noexcept {
    bool const documented = error == ENOMEM || error == EAGAIN;
    if (!documented) std::fprintf(stderr, "fault: error %d: %s\n", error, what);
    require(documented, "an error that the documentation does not allow");
    require(g_reached.load(std::memory_order_relaxed) || !g_meets_it,
            "an error, but no call was made to fail");
    g_errors.fetch_add(1, std::memory_order_relaxed);
}

run_time::run_time(int workers) {
    tulle::initialize({.workers = workers});
    arm();
}

run_time::~run_time() {
    try {
        tulle::finalize();
    } catch (std::system_error const& e) {
        std::fprintf(stderr, "fault: %s\n", e.what());
        require(false, "finalize fails: a thread is lost");
    }
    disarm();
}

namespace {

void print_report() noexcept {
    if (!g_meets_it) return;
    std::printf("reached=%d errors=%d blocks=%lld mapped=%lld",
                g_reached.load(std::memory_order_relaxed) ? 1 : 0,
                g_errors.load(std::memory_order_relaxed),
                static_cast<long long>(g_block_count.load(std::memory_order_relaxed)),
                static_cast<long long>(g_mapped.load(std::memory_order_relaxed)));
    for (std::size_t k = 1; k < k_names.size(); ++k) {
        std::printf(" %s=%llu", k_names[k].data(),
                    static_cast<unsigned long long>(g_counts[k].load(std::memory_order_relaxed)));
    }
    std::printf("\n");
}

} // namespace

int run(void (*body)()) {
    if (g_place > 0) std::atexit([] { print_report(); }); // a place that serves does not come back
    body();
    disarm();
    g_is_over = true;
    body();
    if (g_place <= 0) print_report();
    return 0;
}

} // namespace fault

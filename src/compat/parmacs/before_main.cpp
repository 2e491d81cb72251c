// SPDX-License-Identifier: Apache-2.0
// Before main: the program begins again, once, as processes that have it at the same address.
// Addresses of variables mean the same in all of them then, also if it is position-independent. If
// nobody has started it as places, `tulle run` does, with one for each processor. What the system
// refuses is told by MAIN_INITENV or CREATE. Then the processes become places, so that main runs in
// one of them only.
#include "compat/parmacs/failure.hpp"
#include "compat/parmacs/machines.hpp"
#include "compat/program/program_data.hpp"
#include "compat/program/shared_variables.hpp"

#include <tulle.h>
#include <tulle/detail/more_places.hpp>
#include <tulle/detail/remote.hpp>
#include <tulle_parmacs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/personality.h>
#include <unistd.h>

namespace tulle::parmacs {

namespace {

constexpr unsigned long k_ask = 0xFFFFFFFF;
// Of addresses; pages take memory when they are used.
constexpr std::uint64_t k_memory = std::uint64_t{1} << 36U;
constexpr std::uint64_t k_low_memory = std::uint64_t{1} << 30U; // if they are to be low ones

// Run by the dynamic linker as its argument, or with another user's rights: then it is not ours to
// start.
bool may_begin_again() noexcept { return getauxval(AT_SECURE) == 0 && getauxval(AT_BASE) != 0; }

std::string path_of_program() {
    std::array<char, PATH_MAX> path{};
    ssize_t const length = readlink("/proc/self/exe", path.data(), path.size());
    return {path.data(), static_cast<std::size_t>(std::max<ssize_t>(length, 0))};
}

// Beside this library, as it was installed or built.
std::string path_of_tulle() {
    Dl_info found{};
    if (dladdr(reinterpret_cast<void const*>(&path_of_tulle), &found) == 0) return {};
    std::string const library = found.dli_fname;
    std::string const folder = library.substr(0, library.rfind('/') + 1);
    for (char const* const way : {TULLE_PROGRAM_FROM_LIBRARY, "../bin/tulle"})
        if (std::string path = folder + way; access(path.c_str(), X_OK) == 0) return path;
    return "tulle";
}

std::string places_of_machine() {
    cpu_set_t allowed;
    int const processors =
        sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 2;
    return std::to_string(std::max(processors, 2)); // main and a created one
}

void run_places(std::string const& program, char* const* arguments) {
    std::vector<std::string> words{path_of_tulle(),     "run", "--tags", "none", "-n",
                                   places_of_machine(), "--",  program};
    std::vector<char*> list;
    for (std::string& each : words) list.push_back(each.data());
    if (*arguments != nullptr)
        for (char* const* each = arguments + 1; *each != nullptr; ++each) list.push_back(*each);
    list.push_back(nullptr);
    execvp(list.front(), list.data());
    s_why_alone = errno;
}

void begin_again(char* const* arguments) {
    bool const is_place = detail::is_asked_to_join();
    auto const kept = static_cast<unsigned long>(personality(k_ask));
    bool is_fixed = (kept & ADDR_NO_RANDOMIZE) != 0;
    if (!is_fixed && personality(kept | ADDR_NO_RANDOMIZE) < 0 && is_place) return;
    if (is_fixed && is_place) return;
    std::string const program = path_of_program();
    if (is_place)
        execv(program.c_str(), arguments);
    else
        run_places(program, arguments);
    personality(kept);
}

void choose(char const* name, std::string const& value) {
    if (int const error = tulle_set_option(name, value.c_str()))
        fail("start: option %s: %s", name, std::strerror(-error));
}

constexpr int k_most_processes = 1024;
constexpr int k_processes = 64; // of a program, unless it says otherwise

// Those that there may be, on one machine. 1: those that it was started with.
int most_processes() {
    char const* const text = ::secure_getenv("TULLE_PARMACS_PROCESSES");
    if (!may_have_more_places()) return 1;
    if (text == nullptr) return k_processes;
    char* end = nullptr;
    long const number = std::strtol(text, &end, 10);
    if (end == text || *end != '\0' || number < 1 || number > k_most_processes)
        fail("start: TULLE_PARMACS_PROCESSES is '%s', which is no number from 1 to %d", text,
             k_most_processes);
    return static_cast<int>(number);
}

bool has_low_memory() noexcept {
    char const* const chosen = ::secure_getenv("TULLE_GLOBAL_LOW");
    return chosen != nullptr && std::strcmp(chosen, "1") == 0;
}

// A process has one thread, that of main or of what was created; it stays on one OS thread. Whoever
// dies ends the program. Returns at place 0.
void become_place() {
    choose("workers", "1");
    choose("max_workers", "1");
    choose("max_substitutes", "off"); // nor does it go on elsewhere when its worker is stuck
    choose("on_place_death", "end");
    if (::secure_getenv("TULLE_GLOBAL_MEMORY") == nullptr)
        choose("global_memory", std::to_string(has_low_memory() ? k_low_memory : k_memory));
    tulle::detail::let_places_be_started(most_processes());
    if (int const error = tulle_init(nullptr))
        fail("start: Tulle does not start: %s", std::strerror(-error));
}

} // namespace
} // namespace tulle::parmacs

using namespace tulle::parmacs;

void tulle_parmacs_before_main(char* const* arguments) try {
    if (tulle_is_initialized() != 0) return; // MAIN_ENV is in another source file, too
    static_cast<void>(tulle::program::program_data::of_process());
    tulle::program::prepare();
    if (may_begin_again()) begin_again(arguments);
    become_place();
} catch (std::bad_alloc const&) {
    fail("start: no memory");
}

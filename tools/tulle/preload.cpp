// SPDX-License-Identifier: Apache-2.0
#include "preload.hpp"

#include "base/error.hpp"
#include "command.hpp"
#include "process.hpp"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include <elf.h>

namespace tulle::tool {

namespace {

namespace fs = std::filesystem;

constexpr char const* k_preload = "LD_PRELOAD";

struct preloaded {
    char const* option;
    char const* library;
    char const* architectures; // that it is built for
};

constexpr preloaded k_ucontext{"--ucontext", "libtulle-ucontext.so." TULLE_LIBRARY_VERSION,
                               TULLE_UCONTEXT_ARCHITECTURES};
constexpr preloaded k_pthreads{"--pthreads", "libtulle-preload.so." TULLE_LIBRARY_VERSION,
                               TULLE_PTHREAD_ARCHITECTURES};

failure refusal(preloaded const& wanted, std::string const& why) {
    return failure(k_exit_failed, std::string("run: ") + wanted.option + ": " + why);
}

// The library lies where the others do: beside this program's folder, which may have been moved.
fs::path find_library(preloaded const& wanted) {
    fs::path const own_folder = fs::read_symlink("/proc/self/exe").parent_path();
    fs::path const installed = own_folder / TULLE_LIBRARY_FROM_PROGRAM / wanted.library;
    fs::path const built = own_folder.parent_path() / "lib" / wanted.library;
    for (fs::path const& candidate : {installed, built})
        if (std::error_code none; fs::exists(candidate, none)) return candidate.lexically_normal();
    throw refusal(wanted, "there is no " + installed.lexically_normal().string() +
                              "; Tulle is built with it for " + wanted.architectures +
                              " and the GNU C library only");
}

void preload(preloaded const& wanted) {
    std::string libraries = find_library(wanted).string();
    if (libraries.find_first_of(": ") != std::string::npos)
        throw refusal(wanted, "the dynamic linker takes no path with a space or a colon: move '" +
                                  libraries + "'");
    if (char const* const others = std::getenv(k_preload); others != nullptr && *others != '\0')
        libraries += std::string(":") + others;
    setenv(k_preload, libraries.c_str(), 1);
}

// A program of this machine that no dynamic linker starts, which would load the library.
bool is_static(fs::path const& program) {
    std::ifstream file(program, std::ios::binary);
    Elf64_Ehdr head{};
    if (!file.read(reinterpret_cast<char*>(&head), sizeof head) ||
        std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
        head.e_phentsize != sizeof(Elf64_Phdr))
        return false;
    file.seekg(static_cast<std::streamoff>(head.e_phoff));
    for (int k = 0; k < head.e_phnum; ++k) {
        Elf64_Phdr part{};
        if (!file.read(reinterpret_cast<char*>(&part), sizeof part)) return false;
        if (part.p_type == PT_INTERP) return false;
    }
    return true;
}

} // namespace

void preload_ucontext(bool without_masks) {
    preload(k_ucontext);
    setenv("TULLE_UCONTEXT_MASKS", without_masks ? "0" : "1", 1);
}

// It may well start others, so it is not refused.
void preload_pthreads(std::string const& program) {
    preload(k_pthreads);
    bool const is_path = program.find('/') != std::string::npos;
    if (is_static(is_path ? fs::path(program) : find_program(program).value_or(fs::path())))
        base::warn("run: --pthreads: %s is linked statically, so its threads stay those of the C "
                   "library, unless it was linked with tulle-pthread.options",
                   program.c_str());
}

} // namespace tulle::tool

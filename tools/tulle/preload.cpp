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
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

namespace tulle::tool {

namespace {

namespace fs = std::filesystem;

constexpr char const* k_preload = "LD_PRELOAD";

struct preloaded {
    char const* option;
    char const* library;
    char const* architectures; // that it is built for
    char const* otherwise;     // what a program has that cannot load it
    char const* if_static;     // the same of one that no dynamic linker starts
};

constexpr preloaded k_ucontext{
    "--ucontext", "libtulle-ucontext.so." TULLE_LIBRARY_VERSION, TULLE_UCONTEXT_ARCHITECTURES,
    "its contexts stay those of the C library", "its contexts stay those of the C library"};
constexpr preloaded k_pthreads{"--pthreads", "libtulle-preload.so." TULLE_LIBRARY_VERSION,
                               TULLE_PTHREAD_ARCHITECTURES,
                               "its threads stay those of the C library",
                               "its threads stay those of the C library, unless it was linked with "
                               "tulle-pthread.options"};

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

// One that gets the rights of another user or group, or capabilities, when it is started: the
// dynamic linker then passes over LD_PRELOAD with paths.
bool gets_other_rights(fs::path const& program) {
    struct stat found {};
    if (::stat(program.c_str(), &found) != 0 || !S_ISREG(found.st_mode)) return false;
    struct statvfs mounted {};
    if (::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ||
        (::statvfs(program.c_str(), &mounted) == 0 && (mounted.f_flag & ST_NOSUID) != 0))
        return false; // nothing gets any here
    if ((found.st_mode & S_ISUID) != 0 && found.st_uid != ::geteuid()) return true;
    constexpr mode_t k_of_group = S_ISGID | S_IXGRP;
    if ((found.st_mode & k_of_group) == k_of_group && found.st_gid != ::getegid()) return true;
    return ::geteuid() != 0 && ::getxattr(program.c_str(), "security.capability", nullptr, 0) > 0;
}

// It may well start others, so it is not refused.
void warn_of_program(preloaded const& wanted, std::string const& program) {
    bool const is_path = program.find('/') != std::string::npos;
    fs::path const file = is_path ? fs::path(program) : find_program(program).value_or(fs::path());
    if (is_static(file))
        base::warn("run: %s: %s is linked statically, so %s", wanted.option, program.c_str(),
                   wanted.if_static);
    else if (gets_other_rights(file))
        base::warn("run: %s: %s runs with the rights of another user, so %s", wanted.option,
                   program.c_str(), wanted.otherwise);
}

} // namespace

void preload_ucontext(std::string const& program, bool without_masks) {
    preload(k_ucontext);
    warn_of_program(k_ucontext, program);
    setenv("TULLE_UCONTEXT_MASKS", without_masks ? "0" : "1", 1);
}

void preload_pthreads(std::string const& program) {
    preload(k_pthreads);
    warn_of_program(k_pthreads, program);
}

} // namespace tulle::tool

// SPDX-License-Identifier: Apache-2.0
#include "ucontext_preload.hpp"

#include "command.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>

namespace tulle::tool {

namespace {

namespace fs = std::filesystem;

constexpr char const* k_library = "libtulle-ucontext.so." TULLE_UCONTEXT_VERSION;
constexpr char const* k_preload = "LD_PRELOAD";

// The library lies where the others do: beside this program's folder, which may have been moved.
fs::path find_library() {
    fs::path const own_folder = fs::read_symlink("/proc/self/exe").parent_path();
    fs::path const installed = own_folder / TULLE_LIBRARY_FROM_PROGRAM / k_library;
    fs::path const built = own_folder.parent_path() / "lib" / k_library;
    for (fs::path const& candidate : {installed, built})
        if (std::error_code none; fs::exists(candidate, none)) return candidate.lexically_normal();
    throw failure(k_exit_failed, "run: --ucontext: there is no " +
                                     installed.lexically_normal().string() +
                                     "; Tulle is built with it for " TULLE_UCONTEXT_ARCHITECTURES
                                     " and the GNU C library only");
}

} // namespace

void preload_ucontext(bool without_masks) {
    std::string libraries = find_library().string();
    if (libraries.find_first_of(": ") != std::string::npos)
        throw failure(k_exit_failed, "run: --ucontext: the dynamic linker takes no path with a "
                                     "space or a colon: move '" +
                                         libraries + "'");
    if (char const* const others = std::getenv(k_preload); others != nullptr && *others != '\0')
        libraries += std::string(":") + others;
    setenv(k_preload, libraries.c_str(), 1);
    setenv("TULLE_UCONTEXT_MASKS", without_masks ? "0" : "1", 1);
}

} // namespace tulle::tool

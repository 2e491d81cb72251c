// SPDX-License-Identifier: Apache-2.0
// Libraries that are loaded before the C library, of which a benchmark program knows where they lie
// from itself.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <dlfcn.h>
#include <unistd.h>

namespace tulle::bench {

// Where the library lies beside this program: as it is installed, or as it is built. Ends the
// program if it is in neither place.
inline std::filesystem::path library_beside_program(char const* installed_folder,
                                                    char const* name) {
    std::filesystem::path const folder =
        std::filesystem::read_symlink("/proc/self/exe").parent_path();
    for (char const* const way : {installed_folder, "../../lib"}) {
        auto const path = (folder / way / name).lexically_normal();
        if (std::error_code none; std::filesystem::exists(path, none)) return path;
    }
    std::fprintf(stderr, "bench: there is no %s in %s or ../../lib\n", name, installed_folder);
    std::exit(1);
}

// Whether the dynamic linker has loaded it at the start.
inline bool is_loaded(std::filesystem::path const& library) {
    return ::dlopen(library.c_str(), RTLD_NOW | RTLD_NOLOAD) != nullptr;
}

// Starts this program anew, with the library loaded first. Returns if it cannot.
inline void start_with(std::filesystem::path const& library, char** words) {
    char const* const others = std::getenv("LD_PRELOAD");
    std::string const all = library.string() + (others != nullptr ? std::string(":") + others : "");
    setenv("LD_PRELOAD", all.c_str(), 1);
    ::execv("/proc/self/exe", words);
}

} // namespace tulle::bench

// SPDX-License-Identifier: Apache-2.0
// The clang that `tulle cc` and `tulle c++` wrap: the newest one for which there is a plug-in, or
// the one that is called so without a number; and what of Tulle it must be told.
#pragma once

#include "process.hpp"

#include <filesystem>
#include <string>

namespace tulle::tool {

struct wrapped_clang {
    std::filesystem::path program;
    std::filesystem::path plugin;
    std::filesystem::path headers;
    std::filesystem::path libraries;
};

// Of Tulle: where this program is installed, wherever that has been moved to, or in the tree of a
// build.
std::filesystem::path folder_of_libraries();
std::filesystem::path folder_of_headers();

// `name` is clang or clang++; `wish`, if not empty, the program that the user wants. Throws a
// failure that says what to install.
wrapped_clang find_clang(std::string const& name, std::string const& wish);

struct compiled_for {
    bool shared_globals = false; // the program lies where its variables are coherent memory
    bool races = false; // are looked for, and told with lines unless the words say otherwise
};
// The whole command line.
arguments command_of(wrapped_clang const& clang, arguments const& words, compiled_for purpose);

// Changes whenever the plug-in does.
std::string key_of_cache(wrapped_clang const& clang);

} // namespace tulle::tool

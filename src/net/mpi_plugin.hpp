// SPDX-License-Identifier: Apache-2.0
// Finds and loads the plug-in of an MPI.
#pragma once

#include "net/mpi_functions.hpp"

#include <filesystem>
#include <string>

namespace tulle::net {

struct mpi_plugin {
    mpi_functions const* functions = nullptr; // null: `why` says what is wrong
    std::filesystem::path file{};             // without a folder: the dynamic linker has found it
    std::string why{};
};

// The plug-in libtulle-mpi-FLAVOUR.so. It lies beside the library; where a program has the library
// in itself, in the library folder beside the program's, in the folder that TULLE_PLUGIN_FOLDER
// names, or where the dynamic linker searches, as along the program's run path. It stays loaded.
// Throws std::bad_alloc.
[[nodiscard]] mpi_plugin load_mpi_plugin(std::string const& flavour);

// Programs that this process starts search where it has found the plug-in, if there is none beside
// them.
void let_places_find(mpi_plugin const& plugin);

} // namespace tulle::net

// SPDX-License-Identifier: Apache-2.0
// Finds and loads the plug-in of an MPI.
#pragma once

#include "net/mpi_functions.hpp"

#include <string>

namespace tulle::net {

struct mpi_plugin {
    mpi_functions const* functions = nullptr; // null: `why` says what is wrong
    std::string why;
};

// The plug-in libtulle-mpi-FLAVOUR.so, which lies beside the library, or in the library folder of a program that has the library in itself,
// or where the dynamic linker looks. It stays loaded. Throws std::bad_alloc.
[[nodiscard]] mpi_plugin load_mpi_plugin(std::string const& flavour);

} // namespace tulle::net

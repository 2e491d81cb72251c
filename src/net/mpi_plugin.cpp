// SPDX-License-Identifier: Apache-2.0
#include "net/mpi_plugin.hpp"

#include <array>
#include <filesystem>
#include <system_error>
#include <vector>

#include <dlfcn.h>

namespace tulle::net {

namespace {

namespace fs = std::filesystem;

// The folder of the file that has this code: the library, or a program. Empty: it cannot be told.
fs::path own_folder() {
    Dl_info about{};
    if (dladdr(reinterpret_cast<void const*>(&own_folder), &about) == 0 || about.dli_fname == nullptr) return {};
    std::error_code error;
    fs::path file = fs::weakly_canonical(about.dli_fname, error);
    if (file.filename() != fs::path(about.dli_fname).filename() || !fs::exists(file, error))
        file = fs::read_symlink("/proc/self/exe", error);
    return file.parent_path();
}

// Where it may lie, the likeliest first; the last one is for the dynamic linker to look.
std::vector<fs::path> candidates(std::string const& name) {
    std::vector<fs::path> found;
    fs::path const own = own_folder();
    if (!own.empty()) {
        found.push_back(own / name);
        for (fs::path const& prefix : {own.parent_path(), own.parent_path().parent_path()})
            for (char const* const folder : {TULLE_LIBRARY_FOLDER, "lib"}) found.push_back(prefix / folder / name);
    }
    found.emplace_back(name);
    return found;
}

mpi_plugin take_table(void* library, std::string const& name) {
    auto const* const table = static_cast<mpi_functions const*>(dlsym(library, k_mpi_functions_name));
    if (table == nullptr) return {nullptr, name + " is no plug-in of Tulle"};
    if (table->version != mpi_functions::k_version) return {nullptr, name + " belongs to another version of Tulle"};
    return {table, {}};
}

} // namespace

mpi_plugin load_mpi_plugin(std::string const& flavour) {
    std::string const name = "libtulle-mpi-" + flavour + ".so";
    std::string why;
    for (fs::path const& at : candidates(name)) {
        std::error_code error;
        if (at.has_parent_path() && !fs::exists(at, error)) continue;
        if (void* const library = dlopen(at.c_str(), RTLD_NOW | RTLD_LOCAL)) return take_table(library, name);
        char const* const reason = dlerror(); // NOLINT(concurrency-mt-unsafe)
        why = reason != nullptr ? reason : name;
    }
    return {nullptr, why};
}

} // namespace tulle::net

// SPDX-License-Identifier: Apache-2.0
#include "net/mpi_plugin.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <dlfcn.h>
#include <link.h>

namespace tulle::net {

namespace {

namespace fs = std::filesystem;

constexpr char const* k_folder_variable = "TULLE_PLUGIN_FOLDER";

// The file that has this code: the library, by the link that has led to it, or a program. Empty: it
// cannot be told.
fs::path own_file() {
    Dl_info about{};
    void* object = nullptr;
    if (dladdr1(reinterpret_cast<void const*>(&own_file), &about, &object, RTLD_DL_LINKMAP) == 0 ||
        object == nullptr)
        return {};
    std::string const name = static_cast<link_map const*>(object)->l_name;
    std::error_code error;
    // A program has no name there.
    return name.empty() ? fs::read_symlink("/proc/self/exe", error) : fs::path(name);
}

// The folders of the link and of the file itself: a package may be seen through links to each of
// its files.
std::vector<fs::path> own_folders() {
    fs::path const file = own_file();
    if (file.empty()) return {};
    std::error_code error;
    fs::path const real = fs::canonical(file, error).parent_path();
    std::vector<fs::path> found{file.parent_path()};
    if (!real.empty() && real != found.front()) found.push_back(real);
    return found;
}

// Where the plug-in may lie, the likeliest first; for the last one the dynamic linker searches.
// Nobody chooses code for a program that has more rights.
std::vector<fs::path> candidates(std::string const& name) {
    std::vector<fs::path> found;
    for (fs::path const& own : own_folders()) {
        found.push_back(own / name);
        for (fs::path const& prefix : {own.parent_path(), own.parent_path().parent_path()})
            for (char const* const folder : {TULLE_LIBRARY_FOLDER, "lib"})
                found.push_back(prefix / folder / name);
    }
    if (char const* const folder = ::secure_getenv(k_folder_variable))
        found.push_back(fs::path(folder) / name); // NOLINT(concurrency-mt-unsafe)
    found.emplace_back(name);
    return found;
}

mpi_plugin take_table(void* library, fs::path const& file) {
    auto const* const table =
        static_cast<mpi_functions const*>(dlsym(library, k_mpi_functions_name));
    if (table == nullptr) return {nullptr, {}, file.string() + " is no plug-in of Tulle"};
    if (table->version != mpi_functions::k_version)
        return {nullptr, {}, file.string() + " belongs to another version of Tulle"};
    return {table, file, {}};
}

} // namespace

mpi_plugin load_mpi_plugin(std::string const& flavour) {
    std::string const name = "libtulle-mpi-" + flavour + ".so";
    std::string why;
    for (fs::path const& file : candidates(name)) {
        std::error_code error;
        if (file.has_parent_path() && !fs::exists(file, error)) continue;
        if (void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL))
            return take_table(library, file);
        char const* const reason = dlerror(); // NOLINT(concurrency-mt-unsafe)
        if (why.empty()) why = reason != nullptr ? reason : name;
    }
    return {nullptr, {}, why};
}

void let_places_find(mpi_plugin const& plugin) {
    if (plugin.file.has_parent_path())
        setenv(k_folder_variable, plugin.file.parent_path().c_str(),
               0); // NOLINT(concurrency-mt-unsafe)
}

} // namespace tulle::net

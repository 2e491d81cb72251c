// SPDX-License-Identifier: Apache-2.0
#include "clang.hpp"

#include "clang_words.hpp"
#include "command.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <map>
#include <string_view>
#include <vector>

#include <tulle/coherent_abi.h>

#include <sys/stat.h>

namespace tulle::tool {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view k_plugin_prefix = "coherent-checks-";
constexpr auto k_patience_of_clang = std::chrono::seconds(20); // for clang to print its version

// By version of LLVM, newest last.
std::map<int, fs::path> plugins_in(fs::path const& folder) {
    std::map<int, fs::path> found;
    std::error_code none;
    for (fs::directory_entry const& entry : fs::directory_iterator(folder, none)) {
        std::string const name = entry.path().stem().string();
        int version = 0;
        if (!name.starts_with(k_plugin_prefix)) continue;
        std::from_chars(name.data() + k_plugin_prefix.size(), name.data() + name.size(), version);
        found.emplace(version, entry.path());
    }
    return found;
}

// 0: it does not say.
int version_of(fs::path const& program) {
    outcome const asked =
        capture({program.string(), "-dumpversion"}, {.time = k_patience_of_clang, .quiet = true});
    int version = 0;
    std::from_chars(asked.output.data(), asked.output.data() + asked.output.size(), version);
    return asked.ok() ? version : 0;
}

std::string names_of(std::map<int, fs::path> const& plugins) {
    std::string names;
    for (auto const& [version, path] : plugins)
        names += (names.empty() ? "clang-" : " or clang-") + std::to_string(version);
    return names;
}

struct clang_candidate {
    fs::path program;
    int version;
};

// In the order of preference.
std::vector<clang_candidate> candidates(std::string const& name, std::string const& wish,
                                        std::map<int, fs::path> const& plugins) {
    std::vector<clang_candidate> found;
    if (auto const program = find_program(wish.empty() ? name : wish))
        found.push_back({*program, version_of(*program)});
    for (auto newest = plugins.rbegin(); wish.empty() && newest != plugins.rend(); ++newest)
        if (auto const program = find_program(name + '-' + std::to_string(newest->first)))
            found.push_back({*program, newest->first});
    return found;
}

// Not every command makes use of what is put around its words, which -Werror shall not refuse.
constexpr char const* k_may_be_unused = "--start-no-unused-arguments";
constexpr char const* k_end_of_unused = "--end-no-unused-arguments";

// Variables of libraries stay with them.
arguments const k_of_coherent_globals{"-fPIE", "-fno-direct-access-external-data"};

// At a fixed address, which is too far away for the code that starts other programs of that kind:
// hence the driver links for any address, and the linker for this one.
arguments link_of_coherent_globals() {
    std::array<char, 24> address{};
    std::snprintf(address.data(), address.size(), "%#llx",
                  static_cast<unsigned long long>(TULLE_COHERENT_PROGRAM));
    return {"-pie", "-Wl,-no-pie", "-Wl,--no-relax",
            std::string("-Wl,-Ttext-segment=") + address.data()};
}

void append(arguments& to, arguments const& more) { to.insert(to.end(), more.begin(), more.end()); }

} // namespace

fs::path folder_of_libraries() {
    fs::path const own = fs::read_symlink("/proc/self/exe").parent_path();
    fs::path const installed = own / TULLE_LIBRARY_FROM_PROGRAM;
    fs::path const built = own.parent_path() / "lib";
    std::error_code none;
    return (fs::exists(installed / "tulle", none) ? installed : built).lexically_normal();
}

fs::path folder_of_headers() {
    fs::path const own = fs::read_symlink("/proc/self/exe").parent_path();
    return own.parent_path() / "include";
}

wrapped_clang find_clang(std::string const& name, std::string const& wish) {
    fs::path const libraries = folder_of_libraries();
    auto const plugins = plugins_in(libraries / "tulle");
    if (plugins.empty())
        throw failure(k_exit_failed,
                      "cc: there is no plug-in of clang in " + (libraries / "tulle").string() +
                          "; Tulle is built with them where llvm-14-dev, llvm-16-dev "
                          "or llvm-19-dev is installed, on x86-64");
    auto const found = candidates(name, wish, plugins);
    for (clang_candidate const& one : found)
        if (auto const plugin = plugins.find(one.version); plugin != plugins.end())
            return {one.program, plugin->second, folder_of_headers(), libraries};
    std::string const what = found.empty() ? "there is no " + (wish.empty() ? name : wish)
                                           : found.front().program.string() + " has version " +
                                                 std::to_string(found.front().version) +
                                                 ", for which there is no plug-in";
    throw failure(k_exit_failed, "cc: " + what + "; install " + names_of(plugins));
}

arguments command_of(wrapped_clang const& clang, arguments const& words, compiled_for purpose) {
    bool const is_program = purpose.shared_globals && !makes_no_program(words);
    arguments all{clang.program.string(), k_may_be_unused, "-fpass-plugin=" + clang.plugin.string(),
                  "-isystem", clang.headers.string()};
    if (purpose.races) append(all, {"-g", "-gdwarf-4"});
    all.emplace_back(k_end_of_unused);
    append(all, words);
    all.emplace_back(k_may_be_unused);
    if (is_program) append(all, k_of_coherent_globals);
    if (links(words)) {
        if (is_program) append(all, link_of_coherent_globals());
        std::string const libraries = clang.libraries.string();
        append(all, {"-L" + libraries, "-Wl,-rpath," + libraries, "-Wl,-z,now", "-ltulle"});
    }
    all.emplace_back(k_end_of_unused);
    return all;
}

std::string key_of_cache(wrapped_clang const& clang) {
    struct stat plugin {};
    if (stat(clang.plugin.c_str(), &plugin) != 0) return "tulle";
    return "tulle " + std::to_string(plugin.st_size) + ' ' + std::to_string(plugin.st_mtim.tv_sec) +
           '.' + std::to_string(plugin.st_mtim.tv_nsec);
}

} // namespace tulle::tool

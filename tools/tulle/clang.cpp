// SPDX-License-Identifier: Apache-2.0
#include "clang.hpp"

#include "command.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <map>
#include <string_view>
#include <vector>

#include <tulle/coherent_abi.h>

namespace tulle::tool {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view k_plugin_prefix = "coherent-checks-";
constexpr auto k_patience_of_clang = std::chrono::seconds(20); // for clang to print its version

// With one of these clang stops before it links, or only tells something.
constexpr std::array<std::string_view, 14> k_no_link{
    "-c",           "-S",           "-E",   "-M",     "-MM", "-fsyntax-only", "--version",
    "-dumpversion", "-dumpmachine", "-###", "--help", "-r",  "-emit-ast",     "--precompile"};

// With these the next word is their value, and no file to compile.
constexpr std::array<std::string_view, 36> k_with_value{
    "-o",         "--output",  "-x",        "--language",   "-I",          "-L",
    "-D",         "-U",        "-l",        "-u",           "-z",          "-T",
    "-e",         "-include",  "-imacros",  "-isystem",     "-iquote",     "-idirafter",
    "-iprefix",   "-isysroot", "--sysroot", "-iwithprefix", "-MF",         "-MT",
    "-MQ",        "-MJ",       "-Xclang",   "-Xlinker",     "-Xassembler", "-Xpreprocessor",
    "-Xanalyzer", "-target",   "--param",   "-mllvm",       "-arch",       "-B"};

// What clang compiles to a header ahead of others, and does not link.
constexpr std::array<std::string_view, 7> k_ends_of_headers{".h",   ".H",   ".hh", ".hp",
                                                            ".hpp", ".hxx", ".h++"};

template <class Words> bool is_any_of(Words const& words, std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

// An option with its value, or, without an option, a file to compile or to link.
struct clang_word {
    std::string_view option;
    std::string_view value;
};

// Of those with a value in the same word these matter here.
clang_word part_with_value(std::string_view word) {
    for (std::string_view const name : {"--output=", "--language="})
        if (word.starts_with(name)) return {name[2] == 'o' ? "-o" : "-x", word.substr(name.size())};
    for (std::string_view const name : {"-o", "-x"})
        if (word.starts_with(name) && word != name) return {name, word.substr(name.size())};
    return {word, {}};
}

std::vector<clang_word> parts_of(arguments const& words) {
    std::vector<clang_word> parts;
    for (std::size_t n = 0; n < words.size(); ++n) {
        std::string_view const word = words[n];
        if (word == "-" || !word.starts_with('-')) {
            parts.push_back({{}, word});
        } else if (is_any_of(k_with_value, word) && n + 1 < words.size()) {
            bool const is_output = word == "--output";
            bool const is_language = word == "--language";
            parts.push_back({is_output ? "-o" : is_language ? "-x" : word, words[++n]});
        } else {
            parts.push_back(part_with_value(word));
        }
    }
    return parts;
}

bool is_header(std::string_view file, std::string_view language) {
    if (!language.empty()) return language.find("-header") != std::string_view::npos;
    std::size_t const dot = file.rfind('.');
    return dot != std::string_view::npos && is_any_of(k_ends_of_headers, file.substr(dot));
}

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

bool links(arguments const& words) {
    bool has_input = false;
    std::string_view language;
    for (clang_word const& word : parts_of(words)) {
        std::string_view const option = word.option == "-Xclang" ? word.value : word.option;
        if (is_any_of(k_no_link, option)) return false;
        if (word.option.starts_with("-print-") || word.option.starts_with("--print-")) return false;
        if (word.option == "-x") language = word.value == "none" ? "" : word.value;
        has_input |= word.option.empty() && !is_header(word.value, language);
    }
    return has_input;
}

// The last one counts.
std::filesystem::path output_of(arguments const& words) {
    std::filesystem::path output = "a.out";
    for (clang_word const& word : parts_of(words))
        if (word.option == "-o") output = word.value;
    return output;
}

arguments command_of(wrapped_clang const& clang, arguments const& words, compiled_for purpose) {
    arguments all{clang.program.string(), "-fpass-plugin=" + clang.plugin.string(), "-isystem",
                  clang.headers.string()};
    if (purpose.races) append(all, {"-g", "-gdwarf-4"});
    all.insert(all.end(), words.begin(), words.end());
    if (purpose.shared_globals) append(all, k_of_coherent_globals);
    if (!links(words)) return all;
    if (purpose.shared_globals) append(all, link_of_coherent_globals());
    std::string const libraries = clang.libraries.string();
    for (std::string const& word : {"-L" + libraries, "-Wl,-rpath," + libraries,
                                    std::string("-Wl,-z,now"), std::string("-ltulle")})
        all.push_back(word);
    return all;
}

} // namespace tulle::tool

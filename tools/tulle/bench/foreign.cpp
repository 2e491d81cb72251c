// SPDX-License-Identifier: Apache-2.0
#include "bench/foreign.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include <tulle/version.hpp>

namespace tulle::tool {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

// One language: how to tell that its tools are here, how to compile, how to start what came out.
struct language {
    std::string library;
    std::string folder;    // below peers/
    std::string toolchain; // its human-readable name
    bool (*present)();
    arguments (*build)(fs::path const& source, fs::path const& output);
    arguments (*start)(fs::path const& output);
    std::vector<std::string> benches;
    std::vector<std::string> served{}; // of which it is the server; clients are beside it
};

bool has_go() { return find_program("go").has_value(); }
bool has_cargo() { return find_program("cargo").has_value(); }

// Virtual threads came with Java 21. `javac -version` prints "javac 21.0.2".
bool has_java() {
    if (!find_program("javac") || !find_program("java")) return false;
    outcome const said = capture({"javac", "-version"}, {20s, true, {}});
    return said.ok() && said.output.starts_with("javac ") &&
           std::atoi(said.output.c_str() + 6) >= 21;
}

arguments build_go(fs::path const&, fs::path const& output) {
    return {"go", "build", "-o", output / "peer", "."};
}
arguments build_java(fs::path const& source, fs::path const& output) {
    return {"javac", "-d", output, source / "Peer.java"};
}
arguments build_cargo(fs::path const&, fs::path const& output) {
    return {"cargo", "build", "--quiet", "--release", "--target-dir", output};
}

arguments start_binary(fs::path const& output) { return {output / "peer"}; }
arguments start_java(fs::path const& output) {
    return {"java", "-cp", output, "-XX:+UseParallelGC", "-Xmx6g", "Peer"};
}
arguments start_cargo(fs::path const& output) { return {output / "release" / "peer"}; }

std::vector<language> const& languages() {
    static std::vector<std::string> const threads{
        "fib",       "yield",   "create-one", "create-many", "blocked", "mutex", "mutex-contended",
        "quicksort", "nqueens", "idle",       "wake"};
    static std::vector<std::string> const with_channels = [] {
        std::vector<std::string> names = threads;
        names.emplace_back("channel");
        names.emplace_back("behind-busy");
        names.emplace_back("behind-blocked");
        names.emplace_back("sleepers");
        names.emplace_back("socketpair");
        return names;
    }();
    static std::vector<language> const all{
        {"go", "go", "Go", has_go, build_go, start_binary, with_channels, {"echo"}},
        {"java", "java", "a JDK of version 21 or later", has_java, build_java, start_java, threads},
        {"rayon",
         "rayon",
         "cargo",
         has_cargo,
         build_cargo,
         start_cargo,
         {"fib", "create-one", "create-many", "quicksort", "nqueens", "idle", "wake"}},
    };
    return all;
}

// Nothing: there is no folder of the user's own. In one where others write they could put programs.
std::optional<fs::path> cache_folder() {
    char const* const cache = std::getenv("XDG_CACHE_HOME");
    char const* const home = std::getenv("HOME");
    bool const has_cache = cache != nullptr && *cache != '\0';
    if (!has_cache && (home == nullptr || *home == '\0')) return std::nullopt;
    fs::path const base = has_cache ? fs::path(cache) : fs::path(home) / ".cache";
    return base / "tulle" / (std::string("peers-") + tulle::version());
}

bool is_newer(fs::path const& built, fs::path const& source) {
    std::error_code error;
    auto const stamp = fs::last_write_time(built, error);
    if (error) return false;
    for (fs::directory_entry const& entry : fs::recursive_directory_iterator(source, error))
        if (entry.is_regular_file() && entry.last_write_time() > stamp) return false;
    return !error;
}

// Compiles if need be; nothing when it went well, else why not.
std::optional<std::string> prepare(language const& l, fs::path const& source,
                                   fs::path const& output, bool build) {
    fs::path const mark = output / "built";
    if (is_newer(mark, source)) return std::nullopt;
    if (!build) return "not compiled yet; a run without --quick compiles it";
    std::fprintf(stderr, "bench: compiling the peer %s\n", l.library.c_str());
    std::error_code error;
    fs::create_directories(output, error);
    fs::path const copy = output / "source"; // compilers leave files beside what they compile
    if (!error)
        fs::copy(source, copy, fs::copy_options::recursive | fs::copy_options::overwrite_existing,
                 error);
    if (error) return "cannot write to " + output.string();
    outcome const done = capture(l.build(copy, output), {300s, true, copy});
    if (!done.ok()) return "compiling it failed: " + done.reason();
    if (std::FILE* const file = std::fopen(mark.c_str(), "w")) std::fclose(file);
    return std::nullopt;
}

bool has_any(std::vector<std::string_view> const& wanted, std::vector<std::string> const& names) {
    return std::find_first_of(wanted.begin(), wanted.end(), names.begin(), names.end()) !=
           wanted.end();
}

arguments command_of(language const& l, fs::path const& output, std::string const& bench) {
    arguments command = l.start(output);
    command.push_back(bench);
    return command;
}

} // namespace

foreign_peers find_foreign_peers(fs::path const& bench_folder,
                                 std::vector<std::string_view> const& wanted, bool build) {
    foreign_peers found;
    std::optional<fs::path> const cache = cache_folder();
    for (language const& l : languages()) {
        if (!has_any(wanted, l.benches) && !has_any(wanted, l.served)) continue;
        fs::path const source = bench_folder / "peers" / l.folder;
        fs::path const output = cache.value_or(fs::path()) / l.folder;
        std::optional<std::string> reason;
        if (!fs::exists(source))
            reason = "its source is not installed";
        else if (!l.present())
            reason = "needs " + l.toolchain;
        else if (!cache)
            reason = "neither XDG_CACHE_HOME nor HOME says where it may be compiled";
        else
            reason = prepare(l, source, output, build);
        if (reason) {
            found.absent.push_back(l.library + " is left out: " + *reason);
            continue;
        }
        for (std::string const& bench : l.benches)
            found.contestants.push_back({bench, l.library, command_of(l, output, bench)});
        for (std::string const& bench : l.served) {
            fs::path const clients = bench_folder / (bench + "-clients");
            arguments command = command_of(l, output, bench);
            command.insert(command.begin(), {clients, l.library});
            if (fs::exists(clients))
                found.contestants.push_back({bench, l.library, command});
            else if (has_any(wanted, {bench}))
                found.absent.push_back(l.library + " is left out: there is no " + clients.string());
        }
    }
    return found;
}

} // namespace tulle::tool

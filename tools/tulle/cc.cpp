// SPDX-License-Identifier: Apache-2.0
// `tulle cc` and `tulle c++`: clang with the plug-in that writes checks of accesses to coherent
// memory into what it compiles (compiler/).
#include "clang.hpp"
#include "clang_words.hpp"
#include "command.hpp"
#include "process.hpp"
#include "uninstrumented.hpp"
#include "values.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>

#include <CLI/CLI.hpp>

#include <sys/wait.h>

namespace tulle::tool {

namespace {

struct compilation {
    std::string checks = "all";
    std::string scheme = "states";
    std::string clang;
    bool list = false;
    bool share_globals = false;
};

int exit_code(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : k_exit_failed; }

void list(arguments const& words) {
    for (std::string const& part : uninstrumented_parts(output_of(words)))
        std::printf("%s\n", part.c_str());
}

// Who does not ask for the list hears of this, as nothing else tells of it.
void tell_of_others(arguments const& words) try {
    for (std::string const& sentence : functions_without_checks(output_of(words)))
        std::fprintf(stderr, "tulle: cc: note: %s: %s\n", output_of(words).c_str(),
                     sentence.c_str());
} catch (std::exception const&) { // it is no program, or too large a one; the link has succeeded
}

// Stays to read what the linker has made.
int link_and_look(arguments const& command, arguments const& words, bool lists) {
    int const status = run_to_end(command);
    if (status != 0) return exit_code(status);
    lists ? list(words) : tell_of_others(words);
    return 0;
}

void tell_plugin(compilation const& request, bool shares_globals) {
    setenv("TULLE_COHERENT_CHECKS", request.checks.c_str(), 1);
    setenv("TULLE_COHERENT_SCHEME", request.scheme.c_str(), 1);
    if (shares_globals) setenv("TULLE_COHERENT_GLOBALS", "1", 1);
}

// If the program is ccache: words do not say what the plug-in does.
void keep_apart_in_cache(wrapped_clang const& clang, compilation const& request,
                         bool shares_globals) {
    constexpr char const* k_variable = "CCACHE_NAMESPACE";
    char const* const before = std::getenv(k_variable);
    std::string const space = (before == nullptr ? "" : before + std::string(" ")) +
                              key_of_cache(clang) + ' ' + request.checks + ' ' + request.scheme +
                              (shares_globals ? " globals" : "");
    setenv(k_variable, space.c_str(), 1);
}

int compile(std::string const& name, compilation const& request, arguments const& words) {
    if (words.empty())
        throw failure(k_exit_usage, "cc: what shall be compiled? `tulle cc --help` explains");
    if (request.checks != "none" && have_old_passes(words))
        throw failure(k_exit_usage, "cc: -flegacy-pass-manager leaves no checks in what it "
                                    "compiles; leave it out");
    bool const looks_for_races = request.scheme == "races"; // of variables, too
    bool const shares_globals = request.share_globals || looks_for_races;
    wrapped_clang const clang = find_clang(name, request.clang);
    arguments const command = command_of(clang, words, {shares_globals, looks_for_races});
    tell_plugin(request, shares_globals);
    keep_apart_in_cache(clang, request, shares_globals);
    if (links(words) && (request.list || request.checks != "none"))
        return link_and_look(command, words, request.list);
    become(command);
    throw failure(k_exit_cannot_run, "cc: " + command[0] + ": " + std::strerror(errno));
}

command add(CLI::App& program, char const* name, char const* clang, char const* sentence) {
    auto const request = std::make_shared<compilation>();
    CLI::App* const app = program.add_subcommand(name, sentence);
    app->add_option("--checks", request->checks,
                    "Which accesses are checked: all, stores, loads, of these int-loads (of "
                    "integers) or fp-loads (of floating-point numbers) alone, or none [all]")
        ->check(one_of({"all", "stores", "loads", "int-loads", "fp-loads", "none"}))
        ->type_name("KIND");
    app->add_option("--scheme", request->scheme,
                    "How accesses are checked: by states of lines; stores only, with copies that "
                    "are refreshed; as DSZOOM does, by a directory, where processes have copies on "
                    "one host; or for data races, on one host [states]")
        ->check(one_of({"states", "refresh", "directory", "races"}))
        ->type_name("SCHEME");
    app->add_option("--clang", request->clang, "The program to wrap [one that has a plug-in]")
        ->type_name("PROGRAM")
        ->check(any_text());
    app->add_flag("--share-globals", request->share_globals,
                  "Variables of the program are coherent memory, too: to be given for each file "
                  "and for the link");
    app->add_flag("--list", request->list,
                  "After linking, prints what of the program has no checks: inline assembly, and "
                  "functions of others that get memory");
    app->prefix_command(); // from the first word on that is none of these, all is clang's
    app->footer("These options stand first; from the first other word on, everything is clang's. "
                "The exit code is clang's.");
    return {app, [app, clang, request] { return compile(clang, *request, app->remaining()); }};
}

} // namespace

command add_cc(CLI::App& program) {
    return add(program, "cc", "clang",
               "Compile C programs that share memory between hosts, with checks of accesses");
}

command add_cxx(CLI::App& program) { return add(program, "c++", "clang++", "As cc, for C++"); }

} // namespace tulle::tool

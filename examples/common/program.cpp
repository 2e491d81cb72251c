// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <tulle/tulle.hpp>

#include <cstdio>
#include <exception>
#include <string>

namespace examples {

namespace {

int report_trouble(CLI::App const& app, std::string const& what, bool usage) {
    std::fprintf(stderr, "%s: %s\n", app.get_name().c_str(), what.c_str());
    if (usage) std::fprintf(stderr, "Try '%s --help'.\n", app.get_name().c_str());
    return k_exit_trouble;
}

} // namespace

void add_worker_options(CLI::App& app, common_options& options) {
    app.add_option("-w,--workers", options.workers, "workers to run on; 0: one per CPU that the program may use")
        ->check(CLI::Range(0, 4096))
        ->capture_default_str();
    app.add_flag("--progress", options.progress, "show progress even when the standard error is no terminal");
}

void add_contest_options(CLI::App& app, common_options& options) {
    add_worker_options(app, options);
    app.add_option("--runs", options.runs, "times to run each library; the median is printed")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    app.add_flag("!--no-peers", options.peers, "run Tulle only: neither the serial version nor other libraries");
    app.add_flag("--tsv", options.tsv, "print tab-separated values: program, input, library, role, value, unit, check");
}

int run_program(CLI::App& app, int argc, char** argv, std::function<int()> const& body) {
    try {
        app.parse(argc, argv);
        return body();
    } catch (CLI::CallForHelp const&) {
        std::fputs(app.help().c_str(), stdout);
        return k_exit_ok;
    } catch (CLI::ParseError const& error) {
        return report_trouble(app, error.what(), true);
    } catch (std::exception const& error) {
        return report_trouble(app, error.what(), false);
    }
}

runtime_session::runtime_session(common_options const& options, std::size_t stack_size) {
    tulle::initialize({.workers = options.workers, .stack_size = stack_size});
}

runtime_session::~runtime_session() { tulle::finalize(); }

} // namespace examples

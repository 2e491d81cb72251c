// SPDX-License-Identifier: Apache-2.0
// `tulle info`: the machine as the library sees it, what it would do here, and its options.
#include "command.hpp"
#include "options.hpp"
#include "processor_ranges.hpp"

#include <cstdio>
#include <iostream>
#include <memory>
#include <type_traits>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <tulle/version.hpp>

#include "arch/context.hpp"
#include "base/error.hpp"
#include "base/misspelt_option.hpp"
#include "io/helpers.hpp"
#include "os/epoll.hpp"
#include "os/membarrier.hpp"
#include "os/task_state.hpp"
#include "os/topology.hpp"
#include "runtime/runtime.hpp"
#include "stack/stack_pool.hpp"

namespace tulle::tool {

namespace {

using json = nlohmann::ordered_json;

struct findings {
    os::topology machine;
    base::option_table options;
    runtime::worker_limits workers;
    std::string guard;
    bool membarrier;
    bool names_calls;
    bool has_epoll;
};

char const* context_name() {
    if (std::is_same_v<arch::backend, arch::ucontext_backend>) return "ucontext";
    if (std::is_same_v<arch::backend, arch::setjmp_backend>) return "setjmp";
    return "assembly";
}

findings find() {
    base::option_table options = read_options();
    for (std::string const& sentence : base::misspelt_options(environ))
        base::warn("%s", sentence.c_str());
    auto settings = runtime::settings_of(options, false);
    if (!settings)
        throw failure(k_exit_usage, "info: TULLE_WORKERS is greater than TULLE_MAX_WORKERS");
    stack::stack_pool const pool({.guard = settings->guard});
    return {std::move(settings->machine),
            options,
            {settings->workers, settings->max_workers},
            pool.guard_text(),
            os::membarrier_register(),
            os::task_state::can_name_calls(),
            os::epoll().open() == 0};
}

json options_json(base::option_table const& options) {
    json rows = json::array();
    for (base::option_row const& row : options.list())
        rows.push_back({{"name", row.name},
                        {"value", row.value},
                        {"default", row.default_value},
                        {"unit", row.unit},
                        {"source", base::text(row.source)},
                        {"variable", variable_name(row.name)},
                        {"description", row.sentence}});
    return rows;
}

json to_json(findings const& found) {
    json shepherds = json::array();
    for (os::shepherd_group const& group : found.machine.groups)
        shepherds.push_back({{"cpus", group.cpus}});
    bool const limited = found.machine.quota_cpus > 0;
    return {{"version", tulle::version()},
            {"machine", found.machine.description},
            {"cpus", found.machine.allowed_cpus},
            {"quota", limited ? json(found.machine.quota_cpus) : json(nullptr)},
            {"shepherds", shepherds},
            {"workers", found.workers.workers},
            {"max_workers", found.workers.most},
            {"guard", found.guard},
            {"membarrier", found.membarrier},
            {"max_substitutes", found.options.number(base::option_id::max_substitutes)},
            {"names_system_calls", found.names_calls},
            {"context", context_name()},
            {"io", found.has_epoll ? json("epoll") : json(nullptr)},
            {"options", options_json(found.options)}};
}

void print_line(char const* name, std::string const& value) {
    std::printf("%-13s %s\n", name, value.c_str());
}

std::string quota_text(double cpus) {
    if (cpus <= 0) return "none";
    char text[64];
    std::snprintf(text, sizeof text, "%.2f CPUs", cpus);
    return text;
}

std::string watcher_text(findings const& found) {
    auto const most = found.options.number(base::option_id::max_substitutes);
    if (most == 0) return "off: workers that are stuck have no substitutes";
    std::string const calls = found.names_calls
                                  ? "the system calls that they are stuck in are known"
                                  : "the system does not tell their calls";
    return "at most " + std::to_string(most) + " substitutes of workers that are stuck; " + calls;
}

std::string io_text(findings const& found) {
    if (!found.has_epoll) return "the system has no epoll: waits for descriptors fail";
    return "epoll; at most " + std::to_string(io::helpers::k_most) +
           " helper OS threads for calls that block";
}

void print_options(base::option_table const& options) {
    std::printf("\n%-12s %-10s %-10s %-13s %s\n", "option", "value", "default", "from", "variable");
    for (base::option_row const& row : options.list())
        std::printf("%-12s %-10s %-10s %-13s %s\n    %s (%s)\n", row.name.c_str(),
                    row.value.c_str(), row.default_value.c_str(), base::text(row.source),
                    variable_name(row.name).c_str(), row.sentence.c_str(), row.unit.c_str());
}

void print(findings const& found) {
    std::printf("tulle %s\n", tulle::version());
    print_line("machine", found.machine.description);
    print_line("CPUs", std::to_string(found.machine.allowed_cpus) + " may be used");
    print_line("quota", quota_text(found.machine.quota_cpus));
    int number = 0;
    for (os::shepherd_group const& group : found.machine.groups)
        print_line(("shepherd " + std::to_string(number++)).c_str(), "CPUs " + ranges(group.cpus));
    print_line("workers", std::to_string(found.workers.workers) + ", at most " +
                              std::to_string(found.workers.most) + " at run time");
    print_line("stack guards", found.guard);
    print_line("membarrier", found.membarrier ? "available" : "not available: full fences instead");
    print_line("watcher", watcher_text(found));
    print_line("switch", context_name());
    print_line("input, output", io_text(found));
    print_options(found.options);
}

} // namespace

command add_info(CLI::App& program) {
    auto const as_json = std::make_shared<bool>(false);
    CLI::App* const app =
        program.add_subcommand("info", "Show the machine and the options as the library sees them");
    app->add_flag("--json", *as_json, "Print one JSON object");
    return {app, [as_json] {
                findings const found = find();
                if (*as_json)
                    std::cout << to_json(found).dump(2) << '\n';
                else
                    print(found);
                return 0;
            }};
}

} // namespace tulle::tool

// SPDX-License-Identifier: Apache-2.0
// echo: clients in another process send 64 bytes on each of 100, 1,000 and n connections and wait
// for the answer before they send again; the server has a thread for each connection. The clients
// use the same processors. Figures over the connections: us per answer of all together, and us to
// an answer of one, of 99 in 100.
#pragma once

#include "../common/echo_server.hpp"
#include "../common/harness.hpp"
#include "../common/memory.hpp"

#include <string>
#include <vector>

namespace tulle::bench {

// serve(clients, connections, while_held): in a process of its own.
template <class Serve> child_result echo_run(int connections, double time, Serve serve) {
    return in_child([&]() -> child_result {
        if (!want_descriptors(connections)) return {};
        echo_clients clients(connections);
        if (!clients.is_good()) return {};
        bool const served = serve(clients, connections, [&] { clients.go(time); });
        echo_load const load = clients.result();
        bool const ok = served && load.ok && load.answers != 0;
        return {load.p99_us, ok ? 1e6 * load.seconds / static_cast<double>(load.answers) : 0, ok};
    });
}

template <class Serve> int echo_main_by(char const* name, int argc, char** argv, Serve serve_by) {
    settings const s = parse(argc, argv, {5'000, 200});
    std::vector<int> counts;
    for (int const count : {100, 1'000}) {
        if (count < s.n) counts.push_back(count);
    }
    counts.push_back(static_cast<int>(s.n));
    std::vector<figure> figures;
    for (int const count : counts) {
        std::string const on = ", " + std::to_string(count) + " connections";
        curve_point const at{"", "connections", static_cast<double>(count)};
        figure cost{"us/answer" + on, at}, late{"us p99" + on, at};
        for (int i = 0; i < s.runs; ++i) {
            child_result const run = echo_run(count, s.quick ? 0.1 : 1, serve_by(s));
            cost.add(run.bytes, run.ok);
            late.add(run.time, run.ok);
        }
        figures.push_back(cost);
        figures.push_back(late);
    }
    return print_all("echo", name, s, figures);
}

template <class Library, class Calls> int echo_main(int argc, char** argv) {
    return echo_main_by(Library::k_name, argc, argv, [](settings const& s) {
        return [&s](echo_clients const& clients, int connections, auto while_held) {
            Library library(s.workers);
            bool ok = false;
            library.run(
                [&] { ok = serve_clients<Library, Calls>(clients, connections, while_held); });
            return ok;
        };
    });
}

} // namespace tulle::bench

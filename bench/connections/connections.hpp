// SPDX-License-Identifier: Apache-2.0
// connections: n connections are held, each with a thread that waits for input and has answered
// once. Figure: KiB resident for each.
#pragma once

#include "../common/echo_server.hpp"
#include "../common/harness.hpp"
#include "../common/memory.hpp"

namespace tulle::bench {

template <class Library, class Calls>
child_result connections_run(int connections, settings const& s) {
    return in_child([&]() -> child_result {
        if (!want_descriptors(connections)) return {};
        echo_clients clients(connections);
        if (!clients.is_good()) return {};
        Library library(s.workers);
        double before = 0, held = 0;
        bool ok = false;
        library.run([&] {
            before = resident_bytes();
            ok = serve_clients<Library, Calls>(clients, connections, [&] {
                held = resident_bytes();
                clients.go(0);
            });
        });
        return {0, held - before, ok && clients.result().ok};
    });
}

template <class Library, class Calls> int connections_main(int argc, char** argv) {
    settings const s = parse(argc, argv, {10'000, 200});
    figure memory{"KiB"};
    for (int i = 0; i < s.runs; ++i) {
        child_result const run = connections_run<Library, Calls>(static_cast<int>(s.n), s);
        memory.add(run.bytes / 1024 / static_cast<double>(s.n), run.ok);
    }
    return print_all("connections", Library::k_name, s, {memory});
}

} // namespace tulle::bench

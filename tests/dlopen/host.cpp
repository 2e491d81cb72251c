// SPDX-License-Identifier: Apache-2.0
// Loads a library that uses Tulle, or libtulle itself, and unloads it again while workers sleep or
// run. This program is not linked with Tulle.
//   host plugin FILE ROUNDS   calls plugin_run(); FILE leaves the process at each dlclose, and
//                             libtulle stays host static FILE ROUNDS   the same for a plugin with
//                             the static library in it: nothing leaves host library FILE ROUNDS
//                             calls functions of FILE, which is libtulle
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>

#include <dlfcn.h>

namespace {

[[noreturn]] void fail(char const* what) {
    std::fprintf(stderr, "host: %s\n", what);
    std::exit(1);
}

bool is_mapped(std::string const& name) {
    std::ifstream file("/proc/self/maps");
    for (std::string line; std::getline(file, line);) {
        if (line.find(name) != std::string::npos) return true;
    }
    return false;
}

template <class F> F* function_of(void* library, char const* name) {
    void* const found = dlsym(library, name);
    if (found == nullptr) fail(name);
    return reinterpret_cast<F*>(found);
}

void* open(char const* file) {
    void* const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) fail(dlerror());
    return library;
}

void run_plugin(char const* file, int round) {
    void* const library = open(file);
    auto* const run = function_of<int(int)>(library, "plugin_run");
    if (run(round % 2) != 0) fail("wrong result");
    if (round % 4 == 2)
        std::thread([run] { // a guest whose end comes with the library still there
            if (run(0) != 0) fail("wrong result in another thread");
        })
            .join();
    if (dlclose(library) != 0) fail(dlerror());
}

void run_library(char const* file) {
    void* const library = open(file);
    if (function_of<int()>(library, "tulle_worker_count")() < 1) fail("no workers");
    if (function_of<int()>(library, "tulle_yield")() != 0) fail("no yield");
    if (dlclose(library) != 0) fail(dlerror());
}

} // namespace

int main(int, char** argv) {
    std::string const mode = argv[1];
    char const* const file = argv[2];
    setenv("TULLE_WORKERS", "3", 1);
    for (int round = 0; round < std::atoi(argv[3]); ++round) {
        if (mode == "library")
            run_library(file);
        else
            run_plugin(file, round);
        bool const should_stay = mode != "plugin";
        if (is_mapped(file) != should_stay)
            fail(should_stay ? "the library has left" : "the plugin is still there");
        if (mode == "plugin" && !is_mapped("libtulle.so")) fail("libtulle has left");
    }
    return 0;
}

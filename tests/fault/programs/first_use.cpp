// SPDX-License-Identifier: Apache-2.0
//
// The first call starts the run time: a spawn from C, which returns an error when that fails.
#include "inject.hpp"

#include <tulle.h>

namespace {

void* thread_main(void* argument) { return argument; }

int spawn_and_join() {
    int word = 0;
    tulle_thread* thread = nullptr;
    if (int const error = tulle_spawn(&thread, nullptr, &thread_main, &word)) return error;
    void* result = nullptr;
    fault::require(tulle_thread_join(thread, &result) == 0 && result == &word,
                   "a thread has lost its result");
    return 0;
}

void call(int (*function)()) {
    for (int tries = 0; tries < 2; ++tries) {
        int const error = function();
        if (error == 0) return;
        fault::note_error(-error, "C call");
    }
}

void body() {
    fault::arm();
    call(&spawn_and_join);
    if (tulle_is_initialized()) call(&tulle_finalize);
}

} // namespace

int main() { return fault::run(&body); }

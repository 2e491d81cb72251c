// SPDX-License-Identifier: Apache-2.0
// Runs a function in an OS thread that is foreign to the library, while the program's first thread
// waits as the library wants it to: where that thread is one of the workers (names:
// libraries/serial.hpp), the library has `alongside(f)`.
#pragma once

#include <thread>

namespace tulle::bench {

template <class Library, class F> void run_alongside(Library& library, F f) {
    if constexpr (requires { library.alongside(f); })
        library.alongside(f);
    else
        std::thread(f).join();
}

} // namespace tulle::bench

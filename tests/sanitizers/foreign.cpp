// SPDX-License-Identifier: Apache-2.0
// A program with a sanitizer whose library has none, which says so (foreign_test.py).
#include <cstdio>

#include <tulle/runtime.hpp>

int main() {
    tulle::initialize({.workers = 1});
    tulle::finalize();
    tulle::initialize({.workers = 1}); // it is said once
    tulle::finalize();
    std::puts("done");
}

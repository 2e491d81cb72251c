// SPDX-License-Identifier: Apache-2.0
// What checks of accesses cost: kernels compiled without and with them, with and without
// optimization; their time, their code, and how many checks they execute.
#pragma once

#include "common/harness.hpp"

#include <cstdint>
#include <vector>

namespace tulle::bench {

// A kernel as it was compiled in one way.
struct checked_kernel {
    char const* name;
    char const* level;
    std::uint64_t (*run)(void* memory, int size);
    std::uint64_t (*run_plainly)(void* memory, int size); // whose result is the right one
    std::size_t (*bytes)(int size);
    int (*size)(int is_short);
    char const* code_begin;
    char const* code_end;
};

int checks_main(char const* kind, std::vector<checked_kernel> const& kernels, int argc,
                char** argv);

} // namespace tulle::bench

// Names that the compilation gives to the functions of a kernel and to the section of its code.
#define TULLE_DECLARE_KERNEL(name, kind, level)                                                    \
    std::uint64_t run_##name##_##kind##_##level(void*, int);                                       \
    std::uint64_t run_##name##_none_O2(void*, int);                                                \
    std::size_t bytes_##name##_##kind##_##level(int);                                              \
    int size_##name##_##kind##_##level(int);                                                       \
    extern char const __start_code_##name##_##kind##_##level[];                                    \
    extern char const __stop_code_##name##_##kind##_##level[];

#define TULLE_LIST_KERNEL(name, kind, level)                                                       \
    {#name,                                                                                        \
     "-" #level,                                                                                   \
     run_##name##_##kind##_##level,                                                                \
     run_##name##_none_O2,                                                                         \
     bytes_##name##_##kind##_##level,                                                              \
     size_##name##_##kind##_##level,                                                               \
     __start_code_##name##_##kind##_##level,                                                       \
     __stop_code_##name##_##kind##_##level},

#define TULLE_ALL_KERNELS(each, kind, level)                                                       \
    each(bodies, kind, level) each(chase, kind, level) each(fft, kind, level)                      \
        each(grid, kind, level) each(lu, kind, level) each(lu_rows, kind, level)                   \
            each(radix, kind, level)

// Adds the benchmark of the kernels that have checks of a kind.
#define TULLE_BENCH_CHECKS(kind)                                                                   \
    extern "C" {                                                                                   \
    TULLE_ALL_KERNELS(TULLE_DECLARE_KERNEL, kind, O0)                                              \
    TULLE_ALL_KERNELS(TULLE_DECLARE_KERNEL, kind, O2)                                              \
    }                                                                                              \
    tulle::bench::benchmark const registered_##kind(                                               \
        "checks", "checked_" #kind, [](int argc, char** argv) {                                    \
            return tulle::bench::checks_main(#kind,                                                \
                                             {TULLE_ALL_KERNELS(TULLE_LIST_KERNEL, kind, O0)       \
                                                  TULLE_ALL_KERNELS(TULLE_LIST_KERNEL, kind, O2)}, \
                                             argc, argv);                                          \
        });

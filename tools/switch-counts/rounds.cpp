// SPDX-License-Identifier: Apache-2.0
// Two contexts take turns: switch-rounds BACKEND ROUNDS does 2 * ROUNDS switches. For counting what
// they execute, by scripts/switch-counts.
#include "../../bench/switch/backend_pair.hpp"

#include <array>
#include <cstdlib>
#include <cstring>
#include <tuple>

namespace {

constexpr std::array k_names{"asm", "trap", "ucontext", "setjmp"};

template <class Backend> [[nodiscard]] int run(long rounds) {
    tulle::bench::backend_pair<Backend> pair;
    for (long k = 0; k < rounds; ++k) pair.there_and_back();
    return pair.turns() == rounds ? 0 : 1;
}

template <class Backend> constexpr char const* name_of() {
    if constexpr (std::is_same_v<Backend, tulle::arch::ucontext_backend>) return k_names[2];
    if constexpr (std::is_same_v<Backend, tulle::arch::setjmp_backend>) return k_names[3];
    return k_names[std::is_same_v<Backend, tulle::arch::asm_backend> ? 0 : 1];
}

template <class... Backends>
int run_named(std::tuple<Backends...>*, char const* name, long rounds) {
    int result = 3; // this architecture has no such backend
    static_cast<void>(
        ((std::strcmp(name, name_of<Backends>()) == 0 && (result = run<Backends>(rounds), true)) ||
         ...));
    return result;
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    return run_named(static_cast<tulle::arch::all_backends*>(nullptr), argv[1],
                     std::strtol(argv[2], nullptr, 10));
}

// SPDX-License-Identifier: Apache-2.0
#include "compat/myth/environment.hpp"

#include "compat/myth/library.hpp"

#include <tulle/detail/stack_attachments.hpp>

#include <climits>
#include <cstdlib>

namespace tulle::myth {

namespace {

constexpr std::size_t k_default_guard = 4096;

// As MassiveThreads reads them: a text that is no number counts as 0.
int number_in(char const* name, int otherwise) noexcept {
    char const* const text = ::secure_getenv(name);
    if (text == nullptr) return otherwise;
    long const number = std::strtol(text, nullptr, 10);
    return number < INT_MIN || number > INT_MAX ? 0 : static_cast<int>(number);
}

std::size_t size_in(char const* name, std::size_t otherwise) noexcept {
    int const number = number_in(name, 0);
    return number > 0 ? static_cast<std::size_t>(number) : otherwise;
}

int workers_in_environment() noexcept {
    char const* const name =
        ::secure_getenv("MYTH_NUM_WORKERS") != nullptr ? "MYTH_NUM_WORKERS" : "MYTH_WORKER_NUM";
    int const number = number_in(name, 0);
    return number > 0 ? number : 0;
}

} // namespace

myth_globalattr_t attributes_of_environment() noexcept {
    myth_globalattr_t a{};
    a.stacksize = size_in("MYTH_DEF_STKSIZE", k_default_stack);
    a.guardsize = size_in("MYTH_DEF_GUARDSIZE", k_default_guard);
    a.n_workers = workers_in_environment();
    a.bind_workers = number_in("MYTH_BIND_WORKERS", 1) != 0 ? 1 : 0;
    a.child_first = number_in("MYTH_CHILD_FIRST", 1) != 0 ? 1 : 0;
    a.initialized = 1;
    return a;
}

int worker_count_of(int n_workers) noexcept {
    if (n_workers > 0) return n_workers;
    int const native = number_in("TULLE_WORKERS", 0);
    if (native > 0) return native;
    int usable = 1;
    static_cast<void>(guarded([&usable] { usable = detail::default_worker_count(); }));
    return usable;
}

} // namespace tulle::myth

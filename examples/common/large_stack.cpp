// SPDX-License-Identifier: Apache-2.0
#include "large_stack.hpp"

#include <cstdlib>
#include <pthread.h>
#include <system_error>
#include <unistd.h>

namespace examples {

namespace {

void* call(void* body) {
    (*static_cast<std::function<void()> const*>(body))();
    return nullptr;
}

} // namespace

void run_on_large_stack(std::function<void()> const& body) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, k_large_stack);
    pthread_t thread{};
    auto copy = body;
    int const error = pthread_create(&thread, &attributes, call, &copy);
    pthread_attr_destroy(&attributes);
    if (error != 0)
        throw std::system_error(error, std::generic_category(),
                                "cannot start a thread with a stack of 1 GiB");
    pthread_join(thread, nullptr);
}

void request_large_openmp_stacks([[maybe_unused]] char** argv) {
#if defined(_OPENMP)
    if (std::getenv("OMP_STACKSIZE") != nullptr) return;
    setenv("OMP_STACKSIZE", "1G", 0);
    execv("/proc/self/exe", argv); // where that fails, go on: the default may do
#endif
}

} // namespace examples

// SPDX-License-Identifier: Apache-2.0
// Threads that keep a worker, or do not. Driven by explain_test.py.
#include <tulle/tulle.hpp>

#include <chrono>
#include <cstdio>
#include <ctime>
#include <string_view>

#include <unistd.h>

namespace {

double processor_seconds() {
    timespec used{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

void sleep_in_the_kernel() { ::usleep(600'000); }
void compute() {
    double const end = processor_seconds() + 0.15;
    while (processor_seconds() < end) continue;
}
void wait() { tulle::this_thread::sleep_for(std::chrono::milliseconds(50)); }

} // namespace

int main(int argc, char** argv) {
    std::string_view const what = argc > 1 ? argv[1] : "";
    auto const job = what == "sleep" ? &sleep_in_the_kernel : what == "compute" ? &compute : &wait;
    tulle::initialize();
    tulle::spawn(job).join();
    if (argc > 2) tulle::finalize();
    return 0;
}

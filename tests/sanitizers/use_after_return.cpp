// SPDX-License-Identifier: Apache-2.0
//
// A Tulle thread keeps the address of a local variable, blocks, and reads it: AddressSanitizer with
// detect_stack_use_after_return=1 must find it although the frame's fake stack went out and in with
// the switches.
#include <tulle/tulle.hpp>

namespace {

[[gnu::noinline]] int* address_of_local() {
    int local[4] = {1, 2, 3, 4};
    int* volatile kept = &local[2];
    return kept;
}

[[gnu::noinline]] int read_it(int const* address) { return *address; }

int work(tulle::latch& gate) {
    int const* const address = address_of_local();
    gate.wait();
    return read_it(address);
}

} // namespace

int main() {
    tulle::initialize({.workers = 2});
    tulle::latch gate(1);
    auto thread = tulle::spawn(&work, std::ref(gate));
    tulle::this_thread::sleep_for(std::chrono::milliseconds(1));
    gate.count_down();
    int const read = thread.join();
    tulle::finalize();
    return read == 3 ? 0 : 1;
}

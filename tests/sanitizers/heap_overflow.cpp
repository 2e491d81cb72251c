// SPDX-License-Identifier: Apache-2.0
//
// A Tulle thread that has blocked, and perhaps moved, writes behind the end of an array:
// AddressSanitizer and Valgrind must find it and show its stack, and where the array came from.
#include <tulle/tulle.hpp>

#include <memory>

namespace {

[[gnu::noinline]] std::unique_ptr<int[]> make_the_array(int size) {
    return std::make_unique<int[]>(static_cast<std::size_t>(size));
}

[[gnu::noinline]] void write_behind_the_end(int* array, int size) {
    int volatile* const end = array + size;
    *end = 1;
}

void work(tulle::latch& gate) {
    auto const array = make_the_array(10);
    gate.wait();
    write_behind_the_end(array.get(), 10);
}

} // namespace

int main() {
    tulle::initialize({.workers = 2});
    tulle::latch gate(1);
    auto thread = tulle::spawn(&work, std::ref(gate));
    tulle::this_thread::sleep_for(std::chrono::milliseconds(1));
    gate.count_down();
    thread.join();
    tulle::finalize();
    return 0;
}

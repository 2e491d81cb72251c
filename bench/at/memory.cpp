// SPDX-License-Identifier: Apache-2.0
// The floor: two processes that look at shared memory all the time. A call is a line of the cache
// that goes there and back; data are copied by the sender into a buffer of the other.
#include "at.hpp"

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tulle::bench {
namespace {

struct direction {
    alignas(128) std::atomic<std::uint64_t> count{0};
    alignas(128) std::byte bytes[1 << 20]{};
};
struct shared {
    direction there;
    direction back;
    std::atomic<std::uint64_t> answer_size{0};
    std::atomic<long> served{0};
    std::atomic<bool> over{false};
};

void pause() {
#if __has_builtin(__builtin_ia32_pause)
    __builtin_ia32_pause();
#endif
}

void wait_until(std::atomic<std::uint64_t> const& count, std::uint64_t value,
                std::atomic<bool> const& over) {
    while (count.load(std::memory_order_acquire) != value && !over.load(std::memory_order_relaxed))
        pause();
}

struct calls {
    shared& memory;
    std::uint64_t& count;
    std::vector<std::byte> bytes{};

    bool exchange(std::size_t size, std::size_t answer) {
        bytes.resize(size);
        if (size != 0) std::memcpy(memory.there.bytes, bytes.data(), size);
        memory.answer_size.store(answer, std::memory_order_relaxed);
        memory.there.count.store(++count, std::memory_order_release);
        wait_until(memory.back.count, count, memory.over);
        if (answer == 0) return !memory.over.load(std::memory_order_relaxed);
        std::byte const last = bytes.back();
        bytes.back() = ~last;
        std::memcpy(bytes.data(), memory.back.bytes, answer);
        return bytes.back() == last;
    }
    [[nodiscard]] long served() const { return memory.served.load(std::memory_order_relaxed); }
    bool call() { return exchange(0, 0); }
    bool statement(std::size_t size) { return exchange(size, 0); }
    bool expression(std::size_t size) { return exchange(size, size); }
};

void answer_all(shared& memory) {
    for (std::uint64_t next = 1; !memory.over.load(std::memory_order_relaxed); ++next) {
        wait_until(memory.there.count, next, memory.over);
        std::size_t const size = memory.answer_size.load(std::memory_order_relaxed);
        if (size != 0) std::memcpy(memory.back.bytes, memory.there.bytes, size);
        // Published by the store that follows.
        memory.served.fetch_add(1, std::memory_order_relaxed);
        memory.back.count.store(next, std::memory_order_release);
    }
}

int run(int argc, char** argv) {
    settings const s = parse(argc, argv, {50'000, 5'000});
    void* const mapped =
        mmap(nullptr, sizeof(shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) return 1;
    auto& memory = *new (mapped) shared;
    pid_t const other = fork();
    if (other == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        answer_all(memory);
        _exit(0);
    }
    if (other < 0) return 1;
    std::uint64_t count = 0;
    std::vector<figure> const figures = measure_calls(calls{memory, count}, s);
    memory.over = true;
    waitpid(other, nullptr, 0);
    return print_all("at", "memory", s, figures);
}

} // namespace

benchmark const registered("at", "memory", run);

} // namespace tulle::bench

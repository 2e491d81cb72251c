// SPDX-License-Identifier: Apache-2.0
// The processor alone: memory that two processes have mapped, the other of which sleeps.
#include "onesided.hpp"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tulle::bench {
namespace {

struct layout {
    alignas(64) std::atomic<std::uint64_t> is_ready;
    alignas(64) std::atomic<std::uint64_t> word;
    alignas(64) unsigned char bytes[k_copied];
};

class other_process {
public:
    other_process()
        : m_shared(static_cast<layout*>(mmap(nullptr, sizeof(layout), PROT_READ | PROT_WRITE,
                                             MAP_SHARED | MAP_ANONYMOUS, -1, 0))),
          m_process(m_shared != MAP_FAILED ? fork() : -1) {
        if (m_process < 0) std::abort();
        if (m_process == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            std::memset(m_shared->bytes, 7, k_copied);
            m_shared->is_ready.store(1, std::memory_order_release);
            for (;;) pause();
        }
        while (m_shared->is_ready.load(std::memory_order_acquire) == 0) {
            if (waitpid(m_process, nullptr, WNOHANG) != 0) std::abort(); // it has ended
            usleep(1000);
        }
    }
    ~other_process() {
        kill(m_process, SIGKILL);
        waitpid(m_process, nullptr, 0);
    }
    [[nodiscard]] std::uint64_t get() const {
        return m_shared->word.load(std::memory_order_relaxed);
    }
    void put(std::uint64_t value) const { m_shared->word.store(value, std::memory_order_relaxed); }
    void fetch_add(std::uint64_t value) const {
        m_shared->word.fetch_add(value, std::memory_order_seq_cst);
    }
    [[nodiscard]] bool compare_exchange(std::uint64_t expected, std::uint64_t desired) const {
        return m_shared->word.compare_exchange_strong(expected, desired, std::memory_order_seq_cst);
    }
    void copy(unsigned char* to) const { std::memcpy(to, m_shared->bytes, k_copied); }

private:
    layout* m_shared;
    pid_t m_process;
};

int run(int argc, char** argv) {
    settings const s = parse(argc, argv, {2'000'000, 100'000});
    pin_if_single(s);
    other_process there;
    return print_all("onesided", "memory", s, measure_one_sided(there, s));
}

} // namespace

benchmark const registered("onesided", "memory", run);

} // namespace tulle::bench

// SPDX-License-Identifier: Apache-2.0
// As Chapel's tasking layer for MassiveThreads calls it: the program's main thread calls Chapel's
// main function; a task is a detached thread with a copy of its bundle, which goes first; a sync
// variable is a felock.
#include "chapel_calls.hpp"

#include "../common/libraries/myth.hpp"

#include <cstring>
#include <functional>

namespace tulle::bench {
namespace {

class myth_layer {
public:
    explicit myth_layer(int workers) : m_library(workers) {}

    static void run(std::function<void()> const& main_task) { main_task(); }

    static void fork(chapel_bundle const& bundle, std::size_t size) {
        void* const copy = std::malloc(size);
        myth_thread_t thread = nullptr;
        if (copy != nullptr) thread = myth_create(&run_task, std::memcpy(copy, &bundle, size));
        if (thread == nullptr) {
            std::fputs("bench: no memory for another task; lower --n\n", stderr);
            std::exit(1);
        }
        myth_detach(thread);
    }
    static void run_unstarted() {}
    static void yield() { myth_yield(); }

    class sync_variable {
    public:
        sync_variable() { myth_felock_init(&m_word, nullptr); }
        ~sync_variable() { myth_felock_destroy(&m_word); }
        sync_variable(sync_variable const&) = delete;
        sync_variable& operator=(sync_variable const&) = delete;

        void wait_full_and_lock() { myth_felock_wait_and_lock(&m_word, 1); }
        void wait_empty_and_lock() { myth_felock_wait_and_lock(&m_word, 0); }
        void mark_full_and_unlock() { myth_felock_mark_and_signal(&m_word, 1); }
        void mark_empty_and_unlock() { myth_felock_mark_and_signal(&m_word, 0); }

    private:
        myth_felock_t m_word;
    };

private:
    static void* run_task(void* copy) {
        auto* const bundle = static_cast<chapel_bundle*>(copy);
        bundle->function(bundle);
        std::free(copy);
        return nullptr;
    }

    tulle_myth_runtime m_library;
};

} // namespace

benchmark const registered("chapel-calls", "tulle_myth", [](int argc, char** argv) {
    return chapel_calls_main<myth_layer>(argc, argv, "tulle_myth");
});

} // namespace tulle::bench

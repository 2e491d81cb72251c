// SPDX-License-Identifier: Apache-2.0
// Keys of pthread_key_create. The C library keeps the values, as each thread has its struct
// pthread; of threads that it has not made it does not see the end, so the destructors are noted
// here as well.
#include "compat/pthread/c_library/libc.hpp"
#include "compat/pthread/threads/thread.hpp"

#include <algorithm>
#include <array>
#include <climits>

namespace tulle::posix {

namespace {

using destructor = void (*)(void*);

struct key_entry {
    std::atomic<destructor> destroy{nullptr}; // null: none, or the key is not used
};

constinit std::array<key_entry, PTHREAD_KEYS_MAX> s_keys{};
constinit std::atomic<unsigned> s_most{0}; // one above the highest key so far

// Whether a destructor was called.
bool destroy_once() {
    bool called = false;
    unsigned const most = s_most.load(std::memory_order_acquire); // pairs with create_key
    for (unsigned key = 0; key != most; ++key) {
        // acquire pairs with create_key
        destructor const destroy = s_keys[key].destroy.load(std::memory_order_acquire);
        void* const value = destroy == nullptr ? nullptr : pthread_getspecific(key);
        if (value == nullptr) continue;
        pthread_setspecific(key, nullptr);
        destroy(value);
        called = true;
    }
    return called;
}

int create_key(pthread_key_t* key, destructor destroy) noexcept {
    if (int const error = TULLE_LIBC(pthread_key_create)(key, destroy)) return error;
    if (*key >= s_keys.size()) return 0;
    s_keys[*key].destroy.store(destroy, std::memory_order_release); // pairs with destroy_once
    unsigned most = s_most.load(std::memory_order_relaxed);         // relaxed: exchanged below
    while (most <= *key && !s_most.compare_exchange_weak(most, *key + 1, std::memory_order_release,
                                                         std::memory_order_relaxed)) {}
    return 0;
}

} // namespace

void destroy_values() {
    for (int round = 0; round != PTHREAD_DESTRUCTOR_ITERATIONS && destroy_once(); ++round) {}
}

} // namespace tulle::posix

using namespace tulle::posix;

TULLE_INTERPOSE int pthread_key_create(pthread_key_t* key, void (*destroy)(void*)) noexcept {
    return create_key(key, destroy);
}

// libstdc++ takes its presence for that of threads.
TULLE_INTERPOSE int __pthread_key_create(pthread_key_t* key, void (*destroy)(void*)) noexcept {
    return create_key(key, destroy);
}

TULLE_INTERPOSE int pthread_key_delete(pthread_key_t key) noexcept {
    // relaxed: POSIX leaves it to the program that no thread ends meanwhile.
    if (key < s_keys.size()) s_keys[key].destroy.store(nullptr, std::memory_order_relaxed);
    return TULLE_LIBC(pthread_key_delete)(key);
}

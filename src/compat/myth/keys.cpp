// SPDX-License-Identifier: Apache-2.0
// Values of each thread, by native keys, whose numbers here are small; and values of each worker,
// which are those of its OS thread.
#include "compat/myth/library.hpp"

#include <tulle.h>

#include <array>
#include <atomic>

#include <pthread.h>

namespace tulle::myth {
namespace {

constexpr std::size_t k_most_keys = 1024;

// 0: the number is free.
std::array<std::atomic<tulle_key>, k_most_keys>& native_keys() noexcept {
    static constinit std::array<std::atomic<tulle_key>, k_most_keys> s_keys{};
    return s_keys;
}

bool is_key(myth_key_t key) noexcept {
    return key >= 0 && static_cast<std::size_t>(key) < k_most_keys;
}

// relaxed: who uses a key knows of its making otherwise. 0: there is none, which is no native key.
tulle_key native_key(myth_key_t key) noexcept {
    return is_key(key)
               ? native_keys()[static_cast<std::size_t>(key)].load(std::memory_order_relaxed)
               : 0;
}

// A number for the native key; -1: all are taken.
int number_for(tulle_key key) noexcept {
    for (std::size_t k = 0; k < k_most_keys; ++k) {
        tulle_key free = 0;
        // relaxed: as above
        if (native_keys()[k].compare_exchange_strong(free, key, std::memory_order_relaxed,
                                                     std::memory_order_relaxed))
            return static_cast<int>(k);
    }
    return -1;
}

} // namespace
} // namespace tulle::myth

using namespace tulle::myth;

int myth_key_create(myth_key_t* key, void (*destr_function)(void*)) {
    if (key == nullptr) return EINVAL;
    tulle_key made = 0;
    if (int const error = tulle_key_create(&made, destr_function)) return positive(error);
    int const number = number_for(made);
    if (number < 0) {
        static_cast<void>(tulle_key_delete(made));
        return EAGAIN;
    }
    *key = number;
    return 0;
}

int myth_key_delete(myth_key_t key) {
    if (!is_key(key)) return EINVAL;
    // relaxed: as in native_key
    tulle_key const native =
        native_keys()[static_cast<std::size_t>(key)].exchange(0, std::memory_order_relaxed);
    return native == 0 ? EINVAL : positive(tulle_key_delete(native));
}

int myth_setspecific(myth_key_t key, const void* data) {
    tulle_key const native = native_key(key);
    if (native == 0) return EINVAL;
    if (int const error = ensure_started()) return error;
    return positive(tulle_set_specific(native, data));
}

void* myth_getspecific(myth_key_t key) {
    tulle_key const native = native_key(key);
    return native == 0 || ensure_started() != 0 ? nullptr : tulle_get_specific(native);
}

// --- of workers ----------------------------------------------------------------------------------

int myth_wls_key_create(myth_wls_key_t* key, void (*destr_function)(void*)) {
    return key == nullptr ? EINVAL : ::pthread_key_create(key, destr_function);
}
int myth_wls_key_delete(myth_wls_key_t key) { return ::pthread_key_delete(key); }
int myth_wls_setspecific(myth_wls_key_t key, const void* data) {
    return ::pthread_setspecific(key, data);
}
void* myth_wls_getspecific(myth_wls_key_t key) { return ::pthread_getspecific(key); }

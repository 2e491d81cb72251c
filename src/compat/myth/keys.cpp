// SPDX-License-Identifier: Apache-2.0
// Values of each thread, by native keys, whose numbers here are small; and values of each worker,
// which are those of its OS thread.
#include "compat/myth/library.hpp"

#include <tulle.h>

#include <array>
#include <atomic>
#include <memory>
#include <system_error>
#include <vector>

#include <pthread.h>

namespace tulle::myth {
namespace {

constexpr std::size_t k_most_keys = 1024;

struct key_entry {
    std::atomic<tulle_key> native{0}; // 0: the number is free
    std::atomic<void (*)(void*)> destructor{nullptr};
};

std::array<key_entry, k_most_keys>& entries() noexcept {
    static constinit std::array<key_entry, k_most_keys> s_entries{};
    return s_entries;
}

// Null: no number of a key.
key_entry* entry_of(myth_key_t key) noexcept {
    return key >= 0 && static_cast<std::size_t>(key) < k_most_keys
               ? &entries()[static_cast<std::size_t>(key)]
               : nullptr;
}

// relaxed, here and below: who uses a key knows of its making otherwise. 0: there is none, which is
// no native key.
tulle_key native_key(myth_key_t key) noexcept {
    key_entry const* const e = entry_of(key);
    return e == nullptr ? 0 : e->native.load(std::memory_order_relaxed);
}

// A number for the native key; -1: all are taken.
int number_for(tulle_key key) noexcept {
    for (std::size_t k = 0; k < k_most_keys; ++k) {
        tulle_key free = 0;
        // acquire pairs with myth_key_delete
        if (entries()[k].native.compare_exchange_strong(free, key, std::memory_order_acquire,
                                                        std::memory_order_relaxed))
            return static_cast<int>(k);
    }
    return -1;
}

// MassiveThreads calls destructors for null values that were stored, too, which native keys do not
// know from values that were not. So each thread that stores one keeps a list of the keys for which
// it has done so last, itself a value of a native key. Keys are there with their native ones, which
// never come again as numbers of deleted keys do.
struct stored_null {
    std::size_t number;
    tulle_key native;
};
using null_list = std::vector<stored_null>;

void destroy_nulls(void* of) {
    std::unique_ptr<null_list> const stored(static_cast<null_list*>(of));
    for (stored_null const& each : *stored) {
        key_entry const& e = entries()[each.number];
        auto* const destructor = e.destructor.load(std::memory_order_relaxed);
        if (destructor != nullptr && e.native.load(std::memory_order_relaxed) == each.native)
            destructor(nullptr);
    }
}

tulle_key key_of_nulls() noexcept {
    static tulle_key const s_key = [] {
        tulle_key made = 0;
        static_cast<void>(tulle_key_create(&made, &destroy_nulls));
        return made;
    }();
    return s_key;
}

// Throws std::bad_alloc and std::system_error.
null_list& make_list_of_nulls() {
    auto made = std::make_unique<null_list>();
    if (int const error = tulle_set_specific(key_of_nulls(), made.get()))
        throw std::system_error(positive(error), std::generic_category());
    return *made.release();
}

// Notes whether the last value stored for the key is null.
int note_null(myth_key_t key, tulle_key native, bool is_null) noexcept {
    auto const number = static_cast<std::size_t>(key);
    if (entries()[number].destructor.load(std::memory_order_relaxed) == nullptr) return 0;
    auto* stored = static_cast<null_list*>(tulle_get_specific(key_of_nulls()));
    if (stored == nullptr && !is_null) return 0;
    return guarded([&] {
        if (stored == nullptr) stored = &make_list_of_nulls();
        // Of its number, which an earlier key may have had.
        std::erase_if(*stored, [number](stored_null const& s) { return s.number == number; });
        if (is_null) stored->push_back({number, native});
    });
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
    entries()[static_cast<std::size_t>(number)].destructor.store(destr_function,
                                                                 std::memory_order_relaxed);
    *key = number;
    return 0;
}

int myth_key_delete(myth_key_t key) {
    tulle_key const native = native_key(key);
    if (native == 0) return EINVAL;
    // One of those who delete it goes on.
    if (int const error = tulle_key_delete(native)) return positive(error);
    key_entry& e = entries()[static_cast<std::size_t>(key)];
    e.destructor.store(nullptr, std::memory_order_relaxed);
    e.native.store(0, std::memory_order_release); // pairs with number_for
    return 0;
}

int myth_setspecific(myth_key_t key, const void* data) {
    tulle_key const native = native_key(key);
    if (native == 0) return EINVAL;
    if (int const error = ensure_started()) return error;
    if (int const error = note_null(key, native, data == nullptr)) return error;
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

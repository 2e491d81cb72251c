// SPDX-License-Identifier: Apache-2.0
// The C face of values for each thread and for each worker.
#include "sched/scheduler.hpp"
#include "sched/values/keys.hpp"

#include <tulle.h>
#include <tulle/thread_specific.hpp>
#include <tulle/worker_local.hpp>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <new>
#include <system_error>

struct tulle_worker_local {
    tulle::detail::local_table* table;
    size_t size;
    void (*init)(void*);
    void (*destroy)(void*);
};

namespace {

void construct(void const* context, void* where) {
    auto const& of = *static_cast<tulle_worker_local const*>(context);
    std::memset(where, 0, of.size);
    if (of.init != nullptr) of.init(where);
}

void destroy_nothing(void*) {}

auto destructor_of(tulle_worker_local const& of) {
    return of.destroy != nullptr ? of.destroy : &destroy_nothing;
}

} // namespace

extern "C" {

int tulle_key_create(tulle_key* out, void (*destructor)(void*)) {
    if (out == nullptr) return -EINVAL;
    return -tulle::sched::create_key(*out, destructor);
}
int tulle_key_delete(tulle_key key) { return -tulle::sched::delete_key(key); }
int tulle_set_specific(tulle_key key, void const* value) {
    try {
        tulle::detail::set_specific(key, const_cast<void*>(value));
        return 0;
    } catch (std::system_error const& e) {
        return -e.code().value();
    }
}
void* tulle_get_specific(tulle_key key) { return tulle::detail::get_specific(key); }

int tulle_worker_local_create(tulle_worker_local** out, size_t size, void (*init)(void*),
                              void (*destroy)(void*)) {
    if (out == nullptr || size == 0) return -EINVAL;
    auto* const made = new (std::nothrow) tulle_worker_local{nullptr, size, init, destroy};
    if (made == nullptr) return -ENOMEM;
    try {
        made->table = tulle::detail::make_local_table(size, alignof(std::max_align_t));
    } catch (std::bad_alloc const&) {
        delete made;
        return -ENOMEM;
    }
    *out = made;
    return 0;
}
int tulle_worker_local_destroy(tulle_worker_local* local) {
    if (local == nullptr) return -EINVAL;
    tulle::detail::free_local_table(local->table, destructor_of(*local));
    delete local;
    return 0;
}
void* tulle_worker_local_get(tulle_worker_local* local) {
    if (local == nullptr) return nullptr;
    try {
        return tulle::detail::local_value(local->table, &construct, local, destructor_of(*local));
    } catch (std::bad_alloc const&) {
        return nullptr;
    }
}
size_t tulle_worker_local_next(tulle_worker_local const* local, size_t index) {
    return local == nullptr ? TULLE_NO_INDEX : tulle::detail::next_local(local->table, index);
}
void* tulle_worker_local_at(tulle_worker_local const* local, size_t index) {
    return local == nullptr ? nullptr : tulle::detail::local_at(local->table, index);
}

} // extern "C"

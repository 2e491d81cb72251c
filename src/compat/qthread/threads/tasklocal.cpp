// SPDX-License-Identifier: Apache-2.0
// Memory of each qthread, and values by key.
#include "compat/qthread/library/arguments.hpp"
#include "compat/qthread/library/result.hpp"
#include "compat/qthread/threads/task.hpp"

#include <qthread/tls.h>

#include <tulle.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

using namespace tulle::compat;

void* qthread_get_tasklocal(unsigned int size) {
    task* const me = self();
    if (me == nullptr) return nullptr;
    if (size <= me->local_size && me->local != nullptr) return me->local;
    size = std::max(size, me->local_size);
    void* const larger = std::calloc(1, size);
    if (larger == nullptr) return nullptr;
    if (me->local != nullptr) std::memcpy(larger, me->local, me->local_size);
    std::free(me->grown);
    me->grown = me->local = larger;
    me->local_size = size;
    return larger;
}

unsigned qthread_size_tasklocal() {
    task const* const me = self();
    return me == nullptr ? 0 : me->local_size;
}

int qthread_key_create(qthread_key_t* key, void (*destructor)(void*)) {
    if (!is_object(key)) return QTHREAD_BADARGS;
    tulle_key made = 0;
    int const error = tulle_key_create(&made, destructor);
    if (error != 0) return result_of(-error);
    *key = reinterpret_cast<qthread_key_t>(static_cast<uintptr_t>(made));
    return QTHREAD_SUCCESS;
}

namespace {
tulle_key number_of(qthread_key_t key) { return reinterpret_cast<uintptr_t>(key); }
} // namespace

int qthread_key_delete(qthread_key_t key) { return result_of(-tulle_key_delete(number_of(key))); }
void* qthread_getspecific(qthread_key_t key) { return tulle_get_specific(number_of(key)); }
int qthread_setspecific(qthread_key_t key, void const* value) {
    return result_of(-tulle_set_specific(number_of(key), value));
}

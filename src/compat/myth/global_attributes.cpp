// SPDX-License-Identifier: Apache-2.0
// Attributes of a start. Those of a null pointer are the ones that the next start takes.
#include "compat/myth/environment.hpp"
#include "compat/myth/library.hpp"

#include <tulle/runtime.hpp>

#include <climits>

namespace tulle::myth {
namespace {

myth_globalattr_t& attributes_or_chosen(myth_globalattr_t* attr) noexcept {
    return attr != nullptr ? *attr : chosen();
}

template <class T, class Field>
int get_global(myth_globalattr_t* attr, Field myth_globalattr_t::*field, T* out) noexcept {
    if (out == nullptr) return EINVAL;
    *out = static_cast<T>(attributes_or_chosen(attr).*field);
    return 0;
}

int set_flag(myth_globalattr_t* attr, int myth_globalattr_t::*field, int value) noexcept {
    if (value != 0 && value != 1) return EINVAL;
    attributes_or_chosen(attr).*field = value;
    return 0;
}

} // namespace
} // namespace tulle::myth

using namespace tulle::myth;

int myth_globalattr_init(myth_globalattr_t* attr) {
    if (attr == nullptr) return EINVAL;
    *attr = attributes_of_environment();
    attr->n_workers = worker_count_of(attr->n_workers);
    return 0;
}
int myth_globalattr_destroy(myth_globalattr_t* attr) { return attr == nullptr ? EINVAL : 0; }

int myth_globalattr_get_stacksize(myth_globalattr_t* attr, size_t* stacksize) {
    return get_global(attr, &myth_globalattr_t::stacksize, stacksize);
}
int myth_globalattr_set_stacksize(myth_globalattr_t* attr, size_t stacksize) {
    if (stacksize == 0) return EINVAL;
    attributes_or_chosen(attr).stacksize = stacksize;
    return 0;
}
int myth_globalattr_get_guardsize(myth_globalattr_t* attr, size_t* guardsize) {
    return get_global(attr, &myth_globalattr_t::guardsize, guardsize);
}
int myth_globalattr_set_guardsize(myth_globalattr_t* attr, size_t guardsize) {
    attributes_or_chosen(attr).guardsize = guardsize;
    return 0;
}
int myth_globalattr_get_n_workers(myth_globalattr_t* attr, size_t* n_workers) {
    if (n_workers == nullptr) return EINVAL;
    *n_workers = static_cast<size_t>(worker_count_of(attributes_or_chosen(attr).n_workers));
    return 0;
}
int myth_globalattr_set_n_workers(myth_globalattr_t* attr, size_t n_workers) {
    if (n_workers == 0 || n_workers > INT_MAX) return EINVAL;
    attributes_or_chosen(attr).n_workers = static_cast<int>(n_workers);
    return 0;
}
int myth_globalattr_get_bind_workers(myth_globalattr_t* attr, int* bind_workers) {
    return get_global(attr, &myth_globalattr_t::bind_workers, bind_workers);
}
int myth_globalattr_set_bind_workers(myth_globalattr_t* attr, int bind_workers) {
    return set_flag(attr, &myth_globalattr_t::bind_workers, bind_workers);
}
int myth_globalattr_get_child_first(myth_globalattr_t* attr, int* child_first) {
    return get_global(attr, &myth_globalattr_t::child_first, child_first);
}
int myth_globalattr_set_child_first(myth_globalattr_t* attr, int child_first) {
    return set_flag(attr, &myth_globalattr_t::child_first, child_first);
}

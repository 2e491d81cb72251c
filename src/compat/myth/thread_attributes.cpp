// SPDX-License-Identifier: Apache-2.0
// Attributes of a thread.
#include "compat/myth/environment.hpp"
#include "compat/myth/library.hpp"
#include "compat/myth/thread.hpp"

namespace tulle::myth {
namespace {

template <class T> int get_attribute(T const* field, T* out) noexcept {
    if (out == nullptr) return EINVAL;
    *out = *field;
    return 0;
}

myth_thread_attr_t default_attributes() noexcept {
    myth_thread_attr_t a{};
    bool const runs = the().running.load(std::memory_order_acquire); // pairs with start
    a.stacksize = runs ? the().stack_size : chosen().stacksize;
    a.guardsize = chosen().guardsize;
    a.detachstate = PTHREAD_CREATE_JOINABLE;
    a.child_first = runs ? static_cast<int>(the().child_first) : chosen().child_first;
    return a;
}

} // namespace
} // namespace tulle::myth

using namespace tulle::myth;

int myth_thread_attr_init(myth_thread_attr_t* attr) {
    if (attr == nullptr) return EINVAL;
    *attr = default_attributes();
    return 0;
}
int myth_getattr_default_np(myth_thread_attr_t* attr) { return myth_thread_attr_init(attr); }

int myth_getattr_np(myth_thread_t thread, myth_thread_attr_t* attr) {
    if (any_null(thread, attr)) return EINVAL;
    *attr = default_attributes();
    // acquire pairs with more_of
    extra const* const more = body_of(thread).more.load(std::memory_order_acquire);
    if (more == nullptr) return 0;
    if (more->stack_size != 0) attr->stacksize = more->stack_size;
    attr->custom_data = more->hint;
    attr->custom_data_size = more->hint_size;
    return 0;
}

int myth_thread_attr_getdetachstate(const myth_thread_attr_t* attr, int* detachstate) {
    return attr == nullptr ? EINVAL : get_attribute(&attr->detachstate, detachstate);
}
int myth_thread_attr_setdetachstate(myth_thread_attr_t* attr, int detachstate) {
    if (attr == nullptr ||
        (detachstate != PTHREAD_CREATE_JOINABLE && detachstate != PTHREAD_CREATE_DETACHED))
        return EINVAL;
    attr->detachstate = detachstate;
    return 0;
}
int myth_thread_attr_getguardsize(const myth_thread_attr_t* attr, size_t* guardsize) {
    return attr == nullptr ? EINVAL : get_attribute(&attr->guardsize, guardsize);
}
int myth_thread_attr_setguardsize(myth_thread_attr_t* attr, size_t guardsize) {
    if (attr == nullptr) return EINVAL;
    attr->guardsize = guardsize;
    return 0;
}
int myth_thread_attr_getstacksize(const myth_thread_attr_t* attr, size_t* stacksize) {
    return attr == nullptr ? EINVAL : get_attribute(&attr->stacksize, stacksize);
}
int myth_thread_attr_setstacksize(myth_thread_attr_t* attr, size_t stacksize) {
    if (attr == nullptr || stacksize == 0) return EINVAL;
    attr->stacksize = stacksize;
    return 0;
}
int myth_thread_attr_getstack(const myth_thread_attr_t* attr, void** stackaddr, size_t* stacksize) {
    if (any_null(attr, stackaddr, stacksize)) return EINVAL;
    *stackaddr = attr->stackaddr;
    *stacksize = attr->stacksize;
    return 0;
}
int myth_thread_attr_setstack(myth_thread_attr_t* attr, void* stackaddr, size_t stacksize) {
    if (any_null(attr, stackaddr) || stacksize == 0) return EINVAL;
    attr->stackaddr = stackaddr;
    attr->stacksize = stacksize;
    return 0;
}

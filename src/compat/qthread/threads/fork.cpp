// SPDX-License-Identifier: Apache-2.0
// The ways to fork a qthread. Reports name the callers as the places where the qthreads come from.
#include "compat/qthread/library/arguments.hpp"
#include "compat/qthread/threads/task.hpp"

#include <cstdarg>
#include <cstdlib>
#include <cstring>

namespace tulle::compat {

namespace {

// Makes an array of the number and the addresses, which the task frees. A negative number: the next
// argument is an array.
int collect(int count, va_list& arguments, aligned_t**& list) noexcept {
    auto const size = static_cast<std::size_t>(count < 0 ? -static_cast<long>(count) : count);
    aligned_t* const* const given = count < 0 ? va_arg(arguments, aligned_t**) : nullptr;
    if (count < 0 && !is_array(given, size)) return QTHREAD_BADARGS;
    list = static_cast<aligned_t**>(std::malloc((size + 1) * sizeof(aligned_t*)));
    if (list == nullptr) return QTHREAD_MALLOC_ERROR;
    list[0] = reinterpret_cast<aligned_t*>(size);
    for (std::size_t k = 0; k != size; ++k)
        list[k + 1] = given != nullptr ? given[k] : va_arg(arguments, aligned_t*);
    return QTHREAD_SUCCESS;
}

int fork_when(fork_request wanted, int count, va_list& arguments, void const* site) noexcept {
    int error = count == 0 ? QTHREAD_SUCCESS : collect(count, arguments, wanted.preconditions);
    if (error != QTHREAD_SUCCESS) return error;
    error = fork(wanted, site);
    if (error != QTHREAD_SUCCESS) std::free(wanted.preconditions);
    return error;
}

} // namespace

} // namespace tulle::compat

using namespace tulle::compat;

#define TULLE_SITE __builtin_return_address(0)

int qthread_spawn(qthread_f f, void const* arg, size_t arg_size, void* ret, size_t npreconds,
                  void* preconds, qthread_shepherd_id_t target_shep, unsigned int feature_flag) {
    auto** const list = npreconds != 0 ? static_cast<aligned_t**>(preconds) : nullptr;
    if (npreconds != 0 &&
        (!is_object(list) || reinterpret_cast<std::uintptr_t>(list[0]) != npreconds))
        return QTHREAD_BADARGS;
    return tulle::compat::fork({f, arg, arg_size, ret, list, target_shep, feature_flag},
                               TULLE_SITE);
}

int qthread_fork(qthread_f f, void const* arg, aligned_t* ret) {
    return tulle::compat::fork({f, arg, 0, ret, nullptr, NO_SHEPHERD, 0}, TULLE_SITE);
}
int qthread_fork_net(qthread_f f, void const* arg, aligned_t* ret) {
    return tulle::compat::fork({f, arg, 0, ret, nullptr, NO_SHEPHERD, QTHREAD_SPAWN_NETWORK},
                               TULLE_SITE);
}
int qthread_fork_to(qthread_f f, void const* arg, aligned_t* ret, qthread_shepherd_id_t shepherd) {
    return tulle::compat::fork({f, arg, 0, ret, nullptr, shepherd, 0}, TULLE_SITE);
}
int qthread_fork_syncvar(qthread_f f, void const* arg, syncvar_t* ret) {
    return tulle::compat::fork({f, arg, 0, ret, nullptr, NO_SHEPHERD, QTHREAD_SPAWN_RET_SYNCVAR_T},
                               TULLE_SITE);
}
int qthread_fork_syncvar_to(qthread_f f, void const* arg, syncvar_t* ret,
                            qthread_shepherd_id_t shepherd) {
    return tulle::compat::fork({f, arg, 0, ret, nullptr, shepherd, QTHREAD_SPAWN_RET_SYNCVAR_T},
                               TULLE_SITE);
}
int qthread_fork_copyargs(qthread_f f, void const* arg, size_t arg_size, aligned_t* ret) {
    return tulle::compat::fork({f, arg, arg_size, ret, nullptr, NO_SHEPHERD, 0}, TULLE_SITE);
}
int qthread_fork_copyargs_to(qthread_f f, void const* arg, size_t arg_size, syncvar_t* ret,
                             qthread_shepherd_id_t preferred_shep) {
    return tulle::compat::fork({f, arg, arg_size, ret, nullptr, preferred_shep, 0}, TULLE_SITE);
}
int qthread_fork_syncvar_copyargs(qthread_f f, void const* arg, size_t arg_size, syncvar_t* ret) {
    return tulle::compat::fork(
        {f, arg, arg_size, ret, nullptr, NO_SHEPHERD, QTHREAD_SPAWN_RET_SYNCVAR_T}, TULLE_SITE);
}
int qthread_fork_syncvar_copyargs_simple(qthread_f f, void const* arg, size_t arg_size,
                                         syncvar_t* ret) {
    unsigned const flags = QTHREAD_SPAWN_RET_SYNCVAR_T | QTHREAD_SPAWN_SIMPLE;
    return tulle::compat::fork({f, arg, arg_size, ret, nullptr, NO_SHEPHERD, flags}, TULLE_SITE);
}

int qthread_fork_precond(qthread_f f, void const* arg, aligned_t* ret, int npreconds, ...) {
    va_list arguments;
    va_start(arguments, npreconds);
    int const error =
        fork_when({f, arg, 0, ret, nullptr, NO_SHEPHERD, 0}, npreconds, arguments, TULLE_SITE);
    va_end(arguments);
    return error;
}
int qthread_fork_precond_to(qthread_f f, void const* arg, aligned_t* ret,
                            qthread_shepherd_id_t shepherd, int npreconds, ...) {
    va_list arguments;
    va_start(arguments, npreconds);
    int const error =
        fork_when({f, arg, 0, ret, nullptr, shepherd, 0}, npreconds, arguments, TULLE_SITE);
    va_end(arguments);
    return error;
}
int qthread_fork_precond_simple(qthread_f f, void const* arg, aligned_t* ret, int npreconds, ...) {
    va_list arguments;
    va_start(arguments, npreconds);
    int const error = fork_when({f, arg, 0, ret, nullptr, NO_SHEPHERD, QTHREAD_SPAWN_SIMPLE},
                                npreconds, arguments, TULLE_SITE);
    va_end(arguments);
    return error;
}
int qthread_fork_copyargs_precond(qthread_f f, void const* arg, size_t arg_size, syncvar_t* ret,
                                  int npreconds, ...) {
    va_list arguments;
    va_start(arguments, npreconds);
    fork_request const wanted{
        f, arg, arg_size, ret, nullptr, NO_SHEPHERD, QTHREAD_SPAWN_RET_SYNCVAR_T};
    int const error = fork_when(wanted, npreconds, arguments, TULLE_SITE);
    va_end(arguments);
    return error;
}

void qthread_call_method(qthread_f f, void* arg, void* ret, uint16_t flags) {
    if (f != nullptr) deliver(ret, flags, f(arg));
}

// SPDX-License-Identifier: Apache-2.0
// pthread_exit, cancellation and cleanup handlers: the stack is unwound up to its end, which runs
// destructors; handlers of pthread_cleanup_push in C lie in their frames
// and are jumped to when the unwinding has passed these. A cancellation arrives at the thread's
// next wait, or at another cancellation point; one that may come at any point arrives in code of
// the program, too, which a signal interrupts for that (signals/actions.cpp).
#include "base/error.hpp"
#include "compat/pthread/c_library/libc.hpp"
#include "compat/pthread/signals/signals.hpp"
#include "compat/pthread/threads/os_attention.hpp"
#include "compat/pthread/threads/thread.hpp"
#include "os/thread.hpp"
#include "sched/worker.hpp"

#include <cstdlib>
#include <new>

#include <unwind.h>

namespace tulle::posix {

namespace {

// A handler for all exceptions has caught the unwinding and does not throw it on.
void refuse_to_stop(_Unwind_Reason_Code, _Unwind_Exception*) {
    static constexpr char k_message[] = "FATAL: exception not rethrown\n";
    static_cast<void>(!TULLE_LIBC(write)(STDERR_FILENO, k_message, sizeof k_message - 1));
    std::abort();
}

// Called for each frame before it is left. Its call frame's address is above what lies in the
// frames that are left already.
_Unwind_Reason_Code stop_at_frame(int, _Unwind_Action actions, _Unwind_Exception_Class,
                                  _Unwind_Exception* e, _Unwind_Context* context, void* argument) {
    auto& t = *static_cast<thread*>(argument);
    bool const is_last = (actions & _UA_END_OF_STACK) != 0;
    auto const* const left =
        reinterpret_cast<void const*>(is_last ? ~std::uintptr_t{0} : _Unwind_GetCFA(context));
    cleanup_frame* const c = t.cleanups;
    if (c != nullptr && static_cast<void const*>(c) < left) {
        t.cleanups = c->outer;
        delete e;
        longjmp(reinterpret_cast<__jmp_buf_tag*>(c), 1);
    }
    if (is_last) {
        delete e;
        longjmp(t.at_end, 1);
    }
    return _URC_NO_REASON;
}

[[noreturn]] void unwind(thread& t) {
    auto* const e = new (std::nothrow) _Unwind_Exception{};
    if (e == nullptr) base::fatal("no memory to end a thread");
    e->exception_cleanup = &refuse_to_stop;
    _Unwind_ForcedUnwind(e, &stop_at_frame, &t);
    base::fatal("a thread that ends cannot be unwound: a function on its stack has no unwind "
                "tables");
}

} // namespace

void end_self(thread& t, void* result) {
    t.result = result;
    t.is_ending = true;
    unwind(t);
}

thread* thread_on_worker() noexcept {
    thread* const t = self();
    sched::worker const* const w = sched::this_worker();
    // relaxed: its own
    bool const stands_on_worker = t != nullptr && w != nullptr && !w->is_guest() &&
                                  w->tid.load(std::memory_order_relaxed) == os::thread_id();
    return stands_on_worker ? t : nullptr;
}

// What the C library was to do at the end the next thread in the same memory is not to do.
void leave_at_once() noexcept {
    thread* const t = thread_on_worker();
    if (t == nullptr) return;
    t->is_ending = t->leaves_all = t->is_left_behind = true;
    longjmp(t->at_end, 1);
}

interruption attend(thread& t, signal_set harmless) {
    interruption const seen = run_handlers(t, harmless);
    if (t.is_to_end()) end_self(t, PTHREAD_CANCELED);
    return seen;
}

void test_cancel(thread* t) {
    if (t == nullptr) return TULLE_LIBC(pthread_testcancel)();
    bool const is_called = t->attention.is_requested();
    if (TULLE_LIKELY(!is_called && !t->is_to_end())) return;
    if (leaves_handlers()) return;
    if (is_called) static_cast<void>(run_handlers(*t));
    if (t->is_to_end()) end_self(*t, PTHREAD_CANCELED);
}

} // namespace tulle::posix

using namespace tulle::posix;

namespace {

// By the caller. Either who cancels it sees the type, or this sees that it is cancelled (Dekker).
// relaxed: the fences.
void set_any_point(thread& t, bool any) {
    if (any) allow_interrupts();
    t.at_any_point.store(any, std::memory_order_relaxed);
    if (!any) return;
    std::atomic_thread_fence(std::memory_order_seq_cst); // pairs with pthread_cancel
    test_cancel(&t);
}

int cancel_os_thread(pthread_t id) {
    int const error = TULLE_LIBC(pthread_cancel)(id);
    if (error == 0) os_attention::cancel(id);
    return error;
}

} // namespace

TULLE_INTERPOSE int pthread_cancel(pthread_t id) {
    thread* const t = thread_of(id);
    if (t == nullptr) return cancel_os_thread(id);
    // relaxed: see give
    if (!t->is_used.load(std::memory_order_relaxed)) return t->is_to_be_joined ? 0 : ESRCH;
    t->is_cancelled.store(true, std::memory_order_release); // before what call_attention stores
    call_attention(*t);
    std::atomic_thread_fence(std::memory_order_seq_cst); // pairs with set_any_point
    if (!ends_at_any_point(*t)) return 0;
    if (t == self())
        test_cancel(t);
    else
        interrupt_computing();
    return 0;
}

TULLE_INTERPOSE void pthread_testcancel() { test_cancel(self()); }

TULLE_INTERPOSE int pthread_setcancelstate(int state, int* before) {
    thread* const t = self();
    if (t == nullptr) return TULLE_LIBC(pthread_setcancelstate)(state, before);
    if (state != PTHREAD_CANCEL_ENABLE && state != PTHREAD_CANCEL_DISABLE) return EINVAL;
    if (before != nullptr)
        *before = t->may_be_cancelled ? PTHREAD_CANCEL_ENABLE : PTHREAD_CANCEL_DISABLE;
    t->may_be_cancelled = state == PTHREAD_CANCEL_ENABLE;
    if (ends_at_any_point(*t)) test_cancel(t);
    return 0;
}

TULLE_INTERPOSE int pthread_setcanceltype(int type, int* before) {
    thread* const t = self();
    if (t == nullptr) return TULLE_LIBC(pthread_setcanceltype)(type, before);
    if (type != PTHREAD_CANCEL_DEFERRED && type != PTHREAD_CANCEL_ASYNCHRONOUS) return EINVAL;
    if (before != nullptr)
        *before = ends_at_any_point(*t) ? PTHREAD_CANCEL_ASYNCHRONOUS : PTHREAD_CANCEL_DEFERRED;
    set_any_point(*t, type == PTHREAD_CANCEL_ASYNCHRONOUS);
    return 0;
}

// What the macros of pthread_cleanup_push and pthread_cleanup_pop call in C.
namespace {

using cleanup_function = void (*)(__pthread_unwind_buf_t*);

cleanup_function of_libc(std::atomic<void*>& place, char const* name) noexcept {
    return in_libc<cleanup_function>(place, name);
}

constinit std::atomic<void*> s_register{nullptr}, s_unregister{nullptr}, s_next{nullptr},
    s_register_deferred{nullptr}, s_unregister_restoring{nullptr};

cleanup_frame* frame_of(__pthread_unwind_buf_t* buffer) noexcept {
    return reinterpret_cast<cleanup_frame*>(buffer);
}

} // namespace

TULLE_INTERPOSE void __pthread_register_cancel(__pthread_unwind_buf_t* buffer) {
    thread* const t = self();
    if (t == nullptr) return of_libc(s_register, "__pthread_register_cancel")(buffer);
    cleanup_frame* const c = frame_of(buffer);
    c->outer = t->cleanups;
    t->cleanups = c;
}

TULLE_INTERPOSE void __pthread_unregister_cancel(__pthread_unwind_buf_t* buffer) {
    thread* const t = self();
    if (t == nullptr) return of_libc(s_unregister, "__pthread_unregister_cancel")(buffer);
    t->cleanups = frame_of(buffer)->outer;
}

// Those of pthread_cleanup_push_defer_np: until they are taken back, a cancellation waits for the
// next cancellation point.
TULLE_INTERPOSE void __pthread_register_cancel_defer(__pthread_unwind_buf_t* buffer) {
    thread* const t = self();
    if (t == nullptr)
        return of_libc(s_register_deferred, "__pthread_register_cancel_defer")(buffer);
    frame_of(buffer)->was_at_any_point = ends_at_any_point(*t) ? 1 : 0;
    set_any_point(*t, false);
    __pthread_register_cancel(buffer);
}

TULLE_INTERPOSE void __pthread_unregister_cancel_restore(__pthread_unwind_buf_t* buffer) {
    thread* const t = self();
    if (t == nullptr)
        return of_libc(s_unregister_restoring, "__pthread_unregister_cancel_restore")(buffer);
    __pthread_unregister_cancel(buffer);
    set_any_point(*t, frame_of(buffer)->was_at_any_point != 0);
}

// A handler has run, and the unwinding goes on.
TULLE_INTERPOSE __attribute__((noreturn)) void
__pthread_unwind_next(__pthread_unwind_buf_t* buffer) {
    if (thread* const t = self()) unwind(*t);
    of_libc(s_next, "__pthread_unwind_next")(buffer);
    __builtin_unreachable();
}

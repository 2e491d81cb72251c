// SPDX-License-Identifier: Apache-2.0
// sigsetjmp and siglongjmp: what is saved and comes back is the mask of the thread, not that of its
// worker. It lies in the part of the buffer that the C library leaves unused behind the kernel's
// mask.
#include "compat/pthread/c_library/libc.hpp"
#include "compat/pthread/locks/futex_table.hpp"
#include "compat/pthread/signals/signals.hpp"
#include "compat/pthread/threads/os_attention.hpp"

#include <csetjmp>
#include <cstring>

namespace {

using namespace tulle::posix;

constexpr std::size_t k_mask = 8, k_mark = 9; // words
constexpr unsigned long k_marked = 0x656c6c7574;
static_assert(sizeof(__jmp_buf_tag::__saved_mask) >= 16 * sizeof(unsigned long));

bool has_mask(__jmp_buf_tag const& saved) noexcept {
    return saved.__mask_was_saved != 0 && saved.__saved_mask.__val[k_mark] == k_marked;
}

// Perhaps a handler that the kernel has called is left: its worker had blocked signals for it. Of
// faults only the saved mask tells.
void leave_handlers(thread& t, bool restores) noexcept {
    if (!t.is_interrupted && !restores) return;
    t.is_interrupted = false;
    open_mask_of_worker(t, true);
}

// Perhaps out of a handler, which blocked more, or which has interrupted a wait.
void note_jump_of_main(__jmp_buf_tag const& to) noexcept {
    static_cast<void>(note_wait_of_main(0));
    if (to.__mask_was_saved != 0) {
        signal_set saved = 0;
        std::memcpy(&saved, &to.__saved_mask, sizeof saved);
        note_mask_of_main(saved);
    }
}

[[noreturn]] void jump_in_libc(__jmp_buf_tag* to, int value) {
    TULLE_LIBC(longjmp)(to, value);
    __builtin_unreachable();
}

// A handler of what the saved mask lets in may end the thread.
[[noreturn]] void jump(__jmp_buf_tag* to, int value) {
    thread* const t = self();
    wakes_left::forget();
    if (t == nullptr) {
        if (is_main() && !vfork_children::has_caller()) note_jump_of_main(*to);
        os_attention::forget();
        jump_in_libc(to, value);
    }
    bool const restores = has_mask(*to);
    if (restores) set_mask(*t, to->__saved_mask.__val[k_mask]);
    leave_handlers(*t, restores);
    if (!restores) jump_in_libc(to, value);
    static_cast<void>(run_handlers(*t));
    __jmp_buf_tag without_mask = *to;
    without_mask.__mask_was_saved = 0;
    jump_in_libc(&without_mask, value);
}

} // namespace

// Returns what does the rest (arch/.../jumps.S).
extern "C" void* tulle_begin_sigsetjmp(__jmp_buf_tag* saved, int saves_mask) noexcept {
    thread const* const t = self();
    if (saves_mask != 0) saved->__saved_mask.__val[k_mark] = t != nullptr ? k_marked : 0;
    if (saves_mask != 0 && t != nullptr) // relaxed: the thread's own
        saved->__saved_mask.__val[k_mask] = t->blocked.load(std::memory_order_relaxed);
    return reinterpret_cast<void*>(TULLE_LIBC(__sigsetjmp));
}

TULLE_INTERPOSE_WAIT(longjmp, (__jmp_buf_tag * to, int value)) { jump(to, value); }
TULLE_INTERPOSE_WAIT(_longjmp, (__jmp_buf_tag * to, int value)) { jump(to, value); }
TULLE_INTERPOSE_WAIT(siglongjmp, (__jmp_buf_tag * to, int value)) { jump(to, value); }
// Of programs that were compiled with _FORTIFY_SOURCE.
TULLE_INTERPOSE __attribute__((noreturn)) void __longjmp_chk(__jmp_buf_tag* to, int value) {
    jump(to, value);
}

// SPDX-License-Identifier: Apache-2.0
// sigsetjmp and siglongjmp: what is saved and comes back is the mask of the thread, not that of its
// worker. It lies in the part of the buffer that the C library leaves unused behind the kernel's
// mask. So does in which handler the caller is: a jump may leave handlers that the kernel has
// called, or stay within one. Buffers without a mask may be shorter, and have neither.
#include "compat/pthread/c_library/libc.hpp"
#include "compat/pthread/locks/futex_table.hpp"
#include "compat/pthread/signals/signals.hpp"
#include "compat/pthread/threads/os_attention.hpp"

#include <csetjmp>
#include <cstring>

namespace {

using namespace tulle::posix;

constexpr std::size_t k_mask = 8, k_mark = 9, k_handler = 10, k_handler_mark = 11; // words
constexpr unsigned long k_marked = 0x656c6c7574;
static_assert(sizeof(__jmp_buf_tag::__saved_mask) >= 16 * sizeof(unsigned long));

bool has_mask(__jmp_buf_tag const& saved) noexcept {
    return saved.__mask_was_saved != 0 && saved.__saved_mask.__val[k_mark] == k_marked;
}

void note_left_handlers(__jmp_buf_tag const& to) noexcept {
    auto const& words = to.__saved_mask.__val;
    if (to.__mask_was_saved != 0 && words[k_handler_mark] == k_marked)
        wakes_left::jump_to(reinterpret_cast<wakes_left const*>(words[k_handler]));
    else
        wakes_left::jump_to_frame_of(&to);
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
    note_left_handlers(*to);
    if (t == nullptr) {
        if (is_main() && !vfork_children::has_caller()) note_jump_of_main(*to);
        os_attention::forget();
        jump_in_libc(to, value);
    }
    bool const restores = has_mask(*to);
    if (restores) set_mask(*t, to->__saved_mask.__val[k_mask]);
    leave_handlers(*t, restores);
    if (!restores) jump_in_libc(to, value);
    if (leaves_handlers())
        interrupt_computing();
    else
        static_cast<void>(run_handlers(*t));
    __jmp_buf_tag without_mask = *to;
    without_mask.__mask_was_saved = 0;
    jump_in_libc(&without_mask, value);
}

} // namespace

// Returns what does the rest (arch/.../jumps.S).
extern "C" void* tulle_begin_sigsetjmp(__jmp_buf_tag* saved, int saves_mask) noexcept {
    thread const* const t = self();
    if (saves_mask != 0) {
        auto& words = saved->__saved_mask.__val;
        words[k_mark] = t != nullptr ? k_marked : 0;
        // relaxed: the thread's own
        if (t != nullptr) words[k_mask] = t->blocked.load(std::memory_order_relaxed);
        words[k_handler] = reinterpret_cast<std::uintptr_t>(wakes_left::of_caller());
        words[k_handler_mark] = k_marked;
    }
    return reinterpret_cast<void*>(TULLE_LIBC(__sigsetjmp));
}

TULLE_INTERPOSE_WAIT(longjmp, (__jmp_buf_tag * to, int value)) { jump(to, value); }
TULLE_INTERPOSE_WAIT(_longjmp, (__jmp_buf_tag * to, int value)) { jump(to, value); }
TULLE_INTERPOSE_WAIT(siglongjmp, (__jmp_buf_tag * to, int value)) { jump(to, value); }
// Of programs that were compiled with _FORTIFY_SOURCE.
TULLE_INTERPOSE __attribute__((noreturn)) void __longjmp_chk(__jmp_buf_tag* to, int value) {
    jump(to, value);
}

// SPDX-License-Identifier: Apache-2.0
#include "diag/stack_trace.hpp"

namespace tulle::diag {

void unwind(arch::registers registers, stack_range const& stack, stack_trace& out) noexcept {
    out.count = 0;
    out.cut = false;
    std::uintptr_t lowest = 0; // callers' frames lie higher
    for (bool is_call = false; registers.pc != 0;) {
        if (out.count == stack_trace::k_most) {
            out.cut = true;
            break;
        }
        out.pcs[out.count++] = is_call ? registers.pc - 1 : registers.pc;
        frame_step const step = to_caller(registers, stack, is_call);
        std::uintptr_t const sp = registers.value[arch::k_stack_pointer];
        if (step == frame_step::end || sp <= lowest) break;
        lowest = sp;
        is_call = step == frame_step::call;
    }
}

} // namespace tulle::diag

// SPDX-License-Identifier: Apache-2.0
#include "compat/myth/library.hpp"

#include <exception>

namespace tulle::myth {
namespace {

struct once_call {
    myth_once_t* control;
    void (*function)();
    std::exception_ptr left; // what ended the function early, as myth_exit does
};

void set_state(myth_once_t* control, int state) noexcept {
    // release pairs with is_completed
    __atomic_store_n(&control->state, state, __ATOMIC_RELEASE);
}
bool is_completed(myth_once_t const* control) noexcept {
    return __atomic_load_n(&control->state, __ATOMIC_ACQUIRE) == myth_once_state_completed;
}

void call_function(void* argument) {
    auto& call = *static_cast<once_call*>(argument);
    set_state(call.control, myth_once_state_in_progress);
    try {
        call.function();
    } catch (...) {
        call.left = std::current_exception();
        set_state(call.control, myth_once_state_init);
        throw;
    }
    set_state(call.control, myth_once_state_completed);
}

} // namespace
} // namespace tulle::myth

using namespace tulle::myth;

int myth_once(myth_once_t* once_control, void (*init_routine)(void)) {
    if (any_null(once_control, init_routine)) return EINVAL;
    if (is_completed(once_control)) return 0;
    if (int const error = ensure_started()) return error;
    once_call call{once_control, init_routine, nullptr};
    int const error = tulle_once(&once_control->once, &call_function, &call);
    if (call.left != nullptr) std::rethrow_exception(call.left);
    return positive(error);
}

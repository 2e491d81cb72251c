// SPDX-License-Identifier: Apache-2.0
//
// A stack to run one simulated thread on, with its exception state and what the sanitizers must
// know of it. A model test does not depend on the assembly switch: switches are by setjmp, which
// calls no kernel, or by ucontext where a sanitizer takes each longjmp for the end of what lies on
// the stack. All fibres of an explorer stay on one OS thread.
#pragma once

#include "arch/exception_state.hpp"
#include "arch/fiber_annotations.hpp"
#include "arch/setjmp_backend.hpp"
#include "arch/ucontext_backend.hpp"
#include "base/sanitize.hpp"

#include <cstddef>
#include <memory>
#include <type_traits>

namespace tulle::model {

class fibre {
public:
    /// Stands for the stack that the caller runs on.
    fibre() noexcept;
    /// Runs `entry`, which must not return, on the first switch to it.
    explicit fibre(void (*entry)());
    ~fibre();
    fibre(fibre const&) = delete;
    fibre& operator=(fibre const&) = delete;

    /// Leaves `from`, which must be the running one, for `to`; returns when somebody switches back.
    static void switch_to(fibre& from, fibre& to) noexcept;

private:
    using backend =
        std::conditional_t<base::k_address_sanitizer, arch::ucontext_backend, arch::setjmp_backend>;
    static void start(void* self);

    std::unique_ptr<std::byte[]> m_stack; // null for an adopted one
    void (*m_entry)() = nullptr;
    backend::context m_context;
    arch::sanitizer_fiber m_sanitizer;
    arch::exception_state m_exceptions;
};

} // namespace tulle::model

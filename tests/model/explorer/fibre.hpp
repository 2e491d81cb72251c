// SPDX-License-Identifier: Apache-2.0
//
// A stack to run one simulated thread on, with its exception state and what the sanitizers must
// know of it. Always over ucontext, so that a model test does not depend on the assembly switch.
// All fibres of an explorer stay on one OS thread.
#pragma once

#include "arch/exception_state.hpp"
#include "arch/fiber_annotations.hpp"
#include "arch/ucontext_backend.hpp"

#include <cstddef>
#include <memory>

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
    static void start(void* self);

    std::unique_ptr<std::byte[]> m_stack; // null for an adopted one
    void (*m_entry)() = nullptr;
    arch::ucontext_backend::context m_context;
    arch::sanitizer_fiber m_sanitizer;
    arch::exception_state m_exceptions;
};

} // namespace tulle::model

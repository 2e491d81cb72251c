// SPDX-License-Identifier: Apache-2.0
//
// A stack to run one simulated thread on, over ucontext: the tests must not depend on the context switch they help to
// test. Carries the C++ exception state along and tells the sanitizers. All fibres of an explorer stay on one OS thread.
#pragma once

#include <cstddef>
#include <memory>

#include <ucontext.h>

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
    struct exception_state {
        void* caught = nullptr;
        unsigned uncaught = 0;
    };
    static void start();

    ucontext_t m_context{};
    std::unique_ptr<std::byte[]> m_stack; // null for an adopted one
    void (*m_entry)() = nullptr;
    exception_state m_exceptions;
    void* m_sanitizer = nullptr; // ASan: the fake stack; TSan: the fibre
    void const* m_low = nullptr; // the stack's range, for ASan
    std::size_t m_size = 0;
};

} // namespace tulle::model

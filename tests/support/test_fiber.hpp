// SPDX-License-Identifier: Apache-2.0
//
// A coroutine on a stack of its own over one context backend, with all annotations and the
// exception state: what the scheduler does around a switch, and nothing else. resume() and yield()
// alternate; any OS thread may resume.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include <sys/mman.h>

#include "arch/context.hpp"
#include "arch/exception_state.hpp"
#include "arch/fiber_annotations.hpp"

#if defined(TULLE_ANNOTATE_ADDRESS) || defined(TULLE_ANNOTATE_THREAD)
inline constexpr bool k_sanitized = true;
#else
inline constexpr bool k_sanitized = false;
#endif
#if defined(TULLE_ANNOTATE_THREAD)
inline constexpr bool k_thread_sanitized = true;
#else
inline constexpr bool k_thread_sanitized = false;
#endif

template <class Backend> class test_fiber {
public:
    static constexpr std::size_t k_stack = std::size_t{512} << 10U;

    explicit test_fiber(std::function<void(test_fiber&)> body, bool keep_exceptions = true)
        : m_body(std::move(body)),
          m_keep_exceptions(keep_exceptions),
          m_stack(new std::byte[k_stack]) {
        m_annotation.create(m_stack.get(), k_stack);
        Backend::make(m_context, m_stack.get(), k_stack, &start, this);
    }
    ~test_fiber() {
        tulle::arch::forget_stack(m_stack.get(), k_stack);
        m_annotation.destroy();
    }
    test_fiber(test_fiber const&) = delete;
    test_fiber& operator=(test_fiber const&) = delete;

    /// Runs the body until it yields or ends.
    [[gnu::noinline]] void resume() {
        m_caller_annotation.adopt_current_thread();
        exchange(m_caller_exceptions, m_exceptions);
        tulle::arch::before_switch(m_caller_annotation, m_annotation, false);
        Backend::switch_to(m_caller, m_context);
        tulle::arch::after_switch(m_caller_annotation);
    }

    /// From the body only.
    [[gnu::noinline]] void yield() {
        exchange(m_exceptions, m_caller_exceptions);
        tulle::arch::before_switch(m_annotation, m_caller_annotation, false);
        Backend::switch_to(m_context, m_caller);
        tulle::arch::after_switch(m_annotation);
    }

    [[nodiscard]] bool done() const { return m_done; }
    [[nodiscard]] typename Backend::context const& context() const { return m_context; }
    [[nodiscard]] std::byte* low() const { return m_stack.get(); }

private:
    static void start(void* self) {
        auto* const fiber = static_cast<test_fiber*>(self);
        tulle::arch::after_switch(fiber->m_annotation);
        fiber->m_body(*fiber);
        fiber->m_done = true;
        fiber->exchange(fiber->m_exceptions, fiber->m_caller_exceptions);
        tulle::arch::before_switch(fiber->m_annotation, fiber->m_caller_annotation, true);
        Backend::set(fiber->m_caller);
    }

    void exchange(tulle::arch::exception_state& saved,
                  tulle::arch::exception_state const& loaded) const {
        if (m_keep_exceptions) {
            tulle::arch::swap(saved, loaded, tulle::arch::exception_globals());
        }
    }

    std::function<void(test_fiber&)> m_body;
    bool m_keep_exceptions;
    bool m_done = false;
    std::unique_ptr<std::byte[]> m_stack;
    typename Backend::context m_context;
    typename Backend::context m_caller;
    tulle::arch::sanitizer_fiber m_annotation;
    tulle::arch::sanitizer_fiber m_caller_annotation;
    tulle::arch::exception_state m_exceptions;
    tulle::arch::exception_state m_caller_exceptions;
};

// SPDX-License-Identifier: Apache-2.0
#include "fibre.hpp"

#include <cstring>

#include <cxxabi.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#elif defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace tulle::model {

namespace {

constexpr std::size_t k_stack_size = 256 * 1024; // sanitizers need a lot of it

thread_local fibre* t_entered = nullptr;
thread_local fibre* t_left = nullptr;

#if defined(__SANITIZE_ADDRESS__)
void before_switch(void** saved, void const* low, std::size_t size) { __sanitizer_start_switch_fiber(saved, low, size); }
void after_switch(void* saved, void const** low, std::size_t* size) { __sanitizer_finish_switch_fiber(saved, low, size); }
void* create_shadow() { return nullptr; }
void* adopt_shadow() { return nullptr; }
void destroy_shadow(void*) {}
#elif defined(__SANITIZE_THREAD__)
void before_switch(void** to, void const*, std::size_t) { __tsan_switch_to_fiber(*to, 0); }
void after_switch(void*, void const**, std::size_t*) {}
void* create_shadow() { return __tsan_create_fiber(0); }
void* adopt_shadow() { return __tsan_get_current_fiber(); }
void destroy_shadow(void* shadow) { __tsan_destroy_fiber(shadow); }
#else
void before_switch(void**, void const*, std::size_t) {}
void after_switch(void*, void const**, std::size_t*) {}
void* create_shadow() { return nullptr; }
void* adopt_shadow() { return nullptr; }
void destroy_shadow(void*) {}
#endif

#if defined(__SANITIZE_THREAD__)
void** shadow_for_switch(void*&, void*& to) { return &to; }
#else
void** shadow_for_switch(void*& from, void*&) { return &from; }
#endif

} // namespace

fibre::fibre() noexcept : m_sanitizer(adopt_shadow()) {}

fibre::fibre(void (*entry)())
    : m_stack(new std::byte[k_stack_size]), m_entry(entry), m_sanitizer(create_shadow()), m_low(m_stack.get()),
      m_size(k_stack_size)
{
    getcontext(&m_context);
    m_context.uc_stack.ss_sp = m_stack.get();
    m_context.uc_stack.ss_size = k_stack_size;
    m_context.uc_link = nullptr;
    makecontext(&m_context, &fibre::start, 0);
}

fibre::~fibre()
{
    if (m_stack) destroy_shadow(m_sanitizer);
}

void fibre::start()
{
    // Learns the range of the stack that was left, for the switch back to it.
    after_switch(nullptr, &t_left->m_low, &t_left->m_size);
    t_entered->m_entry();
}

void fibre::switch_to(fibre& from, fibre& to) noexcept
{
    static_assert(sizeof(exception_state) == 2 * sizeof(void*)); // the Itanium C++ ABI's __cxa_eh_globals
    void* const globals = abi::__cxa_get_globals();
    std::memcpy(&from.m_exceptions, globals, sizeof(exception_state));
    std::memcpy(globals, &to.m_exceptions, sizeof(exception_state));
    t_left = &from;
    t_entered = &to;
    before_switch(shadow_for_switch(from.m_sanitizer, to.m_sanitizer), to.m_low, to.m_size);
    swapcontext(&from.m_context, &to.m_context);
    after_switch(from.m_sanitizer, &t_left->m_low, &t_left->m_size);
}

} // namespace tulle::model

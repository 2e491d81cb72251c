// SPDX-License-Identifier: Apache-2.0
#include "fibre.hpp"

namespace tulle::model {

namespace {
constexpr std::size_t k_stack_size = std::size_t{256} * 1024; // sanitizers need a lot of it
}

fibre::fibre() noexcept { m_sanitizer.adopt_current_thread(); }

fibre::fibre(void (*entry)()) : m_stack(new std::byte[k_stack_size]), m_entry(entry) {
    m_sanitizer.create(m_stack.get(), k_stack_size);
    backend::make(m_context, m_stack.get(), k_stack_size, &fibre::start, this);
}

fibre::~fibre() { m_sanitizer.destroy(); }

void fibre::start(void* self) {
    auto& me = *static_cast<fibre*>(self);
    arch::after_switch(me.m_sanitizer);
    me.m_entry();
}

void fibre::switch_to(fibre& from, fibre& to) noexcept {
    arch::swap(from.m_exceptions, to.m_exceptions, arch::exception_globals());
    arch::before_switch(from.m_sanitizer, to.m_sanitizer, false);
    backend::switch_to(from.m_context, to.m_context);
    arch::after_switch(from.m_sanitizer);
}

} // namespace tulle::model

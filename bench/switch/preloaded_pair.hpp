// SPDX-License-Identifier: Apache-2.0
// Two contexts of <ucontext.h>, switched by libtulle-ucontext, as `tulle run --ucontext` loads it;
// here it is opened beside the C library's functions.
#pragma once

#include "../common/preloaded.hpp"

#include <cstdio>
#include <cstdlib>
#include <vector>

#include <dlfcn.h>
#include <ucontext.h>

namespace tulle::bench {

/// The functions of the library, which lies beside this program.
class preloaded_ucontext {
public:
    explicit preloaded_ucontext(bool with_masks) {
        setenv("TULLE_UCONTEXT_MASKS", with_masks ? "1" : "0", 1); // read as it is opened
        auto const path = library_beside_program(TULLE_UCONTEXT_FROM_BENCH, TULLE_UCONTEXT_NAME);
        m_library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (m_library == nullptr) fail();
    }

    template <class Function> Function* find(char const* name) const {
        void* const found = dlsym(m_library, name);
        if (found == nullptr) fail();
        return reinterpret_cast<Function*>(found);
    }

private:
    [[noreturn]] static void fail() {
        std::fprintf(stderr, "bench: %s\n", dlerror());
        std::exit(1);
    }

    void* m_library = nullptr;
};

template <bool WithMasks> class preloaded_pair {
public:
    preloaded_pair() : m_stack(k_stack_size) {
        m_functions.find<int(ucontext_t*)>("getcontext")(&m_other);
        m_other.uc_stack.ss_sp = m_stack.data();
        m_other.uc_stack.ss_size = m_stack.size();
        auto const address = reinterpret_cast<unsigned long>(this);
        m_functions.find<void(ucontext_t*, void (*)(), int, ...)>("makecontext")(
            &m_other, reinterpret_cast<void (*)()>(&answer), 1, address);
    }
    preloaded_pair(preloaded_pair const&) = delete;
    preloaded_pair& operator=(preloaded_pair const&) = delete;

    void there_and_back() { m_swap(&m_home, &m_other); }
    [[nodiscard]] long turns() const { return m_turns; }

private:
    static constexpr std::size_t k_stack_size = 64 * 1024;

    static void answer(unsigned long address) {
        auto& self = *reinterpret_cast<preloaded_pair*>(address);
        while (true) {
            ++self.m_turns;
            self.m_swap(&self.m_other, &self.m_home);
        }
    }

    preloaded_ucontext m_functions{WithMasks};
    int (*m_swap)(ucontext_t*, ucontext_t const*) =
        m_functions.find<int(ucontext_t*, ucontext_t const*)>("swapcontext");
    ucontext_t m_home{};
    ucontext_t m_other{};
    long m_turns = 0;
    std::vector<char> m_stack;
};

} // namespace tulle::bench

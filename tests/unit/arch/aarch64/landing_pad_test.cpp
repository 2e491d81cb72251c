// SPDX-License-Identifier: Apache-2.0
//
// Processors may check the targets of indirect jumps, by page (BTI). The switch is run in pages
// that are checked. A program that is linked with start-up code without landing pads is not checked
// as a whole, so the test asks for its own code to be, for a while.
#include "arch/context.hpp"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "backends.hpp"

namespace {

struct segment {
    std::uintptr_t low = 0, high = 0;
};

segment segment_of(void (*code)()) {
    segment found;
    auto const look = [&found, code](dl_phdr_info const& object) {
        auto const at = reinterpret_cast<std::uintptr_t>(code);
        auto const page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
        for (int k = 0; k < object.dlpi_phnum; ++k) {
            auto const& header = object.dlpi_phdr[k];
            std::uintptr_t const low = object.dlpi_addr + header.p_vaddr;
            if (header.p_type != PT_LOAD || at < low || at - low >= header.p_memsz) continue;
            found = {low & ~(page - 1), (low + header.p_memsz + page - 1) & ~(page - 1)};
        }
    };
    ::dl_iterate_phdr(
        [](dl_phdr_info* object, std::size_t, void* visit) {
            return (*static_cast<decltype(look)*>(visit))(*object), 0;
        },
        const_cast<void*>(static_cast<void const*>(&look)));
    return found;
}

bool check_targets(segment const& code, bool check) {
    int const protection = PROT_READ | PROT_EXEC | (check ? PROT_BTI : 0);
    return ::mprotect(reinterpret_cast<void*>(code.low), code.high - code.low, protection) == 0;
}

struct two_contexts {
    tulle::arch::asm_backend::context here, there;
    int turns = 0;
};

[[gnu::noinline]] void answer(void* argument) {
    auto& s = *static_cast<two_contexts*>(argument);
    while (true) {
        ++s.turns;
        tulle::arch::asm_backend::switch_to(s.there, s.here);
    }
}

[[gnu::noinline]] int turns_with_checks(segment const& code) {
    std::vector<std::byte> stack(65536);
    two_contexts s;
    tulle::arch::asm_backend::make(s.there, stack.data(), stack.size(), &answer, &s);
    if (!check_targets(code, true)) return -1;
    for (int k = 0; k < 10; ++k) tulle::arch::asm_backend::switch_to(s.here, s.there);
    check_targets(code, false);
    return s.turns;
}

[[gnu::noinline]] void end_marker() { asm volatile(""); }

bool is_checked() { return (::getauxval(AT_HWCAP2) & HWCAP2_BTI) != 0; }

TEST(landing_pads, switches_land_on_them) {
    if (!is_checked()) GTEST_SKIP() << "this processor does not check the targets of jumps";
    segment const code = segment_of(&end_marker);
    ASSERT_NE(code.low, 0U);
    EXPECT_EQ(turns_with_checks(code), 10);
}

// Skips the first instruction, which is the landing pad.
void jump_past_the_landing_pad(segment const& code) {
    check_targets(code, true);
    reinterpret_cast<void (*)()>(reinterpret_cast<std::uintptr_t>(&end_marker) + 4)();
}

TEST(landing_pads_death_test, jumps_elsewhere_are_fatal) {
    if (!is_checked()) GTEST_SKIP() << "this processor does not check the targets of jumps";
    EXPECT_EXIT(jump_past_the_landing_pad(segment_of(&end_marker)),
                ::testing::KilledBySignal(SIGILL), "");
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
//
// Below an emulator of one process's instructions and system calls (qemu-user) some things are not
// as on a machine. A test that needs them says so in its first line, with the reason, and is
// reported as skipped there.
#pragma once

#include <cstdlib>

#include <gtest/gtest.h>
#include <unistd.h>

[[nodiscard]] inline bool is_emulated() noexcept {
    return std::getenv("TULLE_TEST_EMULATOR") != nullptr;
}

/// Whether the emulated program's pages are larger than those of the machine below, by which the
/// kernel answers.
[[nodiscard]] inline bool are_pages_emulated() noexcept {
    return is_emulated() && ::sysconf(_SC_PAGESIZE) > 4096;
}

// A macro, because it returns from the test.
#define TULLE_SKIP_IF_EMULATED(reason)                                                             \
    if (is_emulated()) GTEST_SKIP() << "under an emulator: " << (reason)

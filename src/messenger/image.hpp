// SPDX-License-Identifier: Apache-2.0
// Code by a name that means the same in every process: which object (program or library) it is in,
// by the object's build-id, and how far from that object's beginning. So it works with
// position-independent programs, with libraries, and wherever these are loaded; nothing has to be
// registered, and no two functions share a name.
#pragma once

#include <cstdint>

namespace tulle::messenger {

using code_name = std::uint64_t; // 0: none

// Null for what is in no object. Any thread.
[[nodiscard]] code_name name_of(void const* code) noexcept;
// Null: this process has no such object.
[[nodiscard]] void* code_of(code_name name) noexcept;

// What tells programs apart: the build-id of the program itself; without one, the layout of its
// segments. Never 0.
[[nodiscard]] std::uint64_t program_id() noexcept;

} // namespace tulle::messenger

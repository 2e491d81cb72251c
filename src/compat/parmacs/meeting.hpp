// SPDX-License-Identifier: Apache-2.0
// What a process does with coherent memory when it meets others: they see what it has stored, and
// it sees what they have.
#pragma once

#include <tulle/c/coherent_memory.h>

namespace tulle::parmacs {

class meeting {
public:
    meeting() noexcept { tulle_coherent_release(); }
    meeting(meeting const&) = delete;
    meeting& operator=(meeting const&) = delete;
    ~meeting() { tulle_coherent_acquire(); }
};

} // namespace tulle::parmacs

// SPDX-License-Identifier: Apache-2.0
#include "os/dynamic_link.hpp"

#include <cstdlib>

namespace tulle::os {

namespace {

bool says_now(ElfW(Dyn) const& entry) noexcept {
    switch (entry.d_tag) {
        case DT_BIND_NOW: return true;
        case DT_FLAGS: return (entry.d_un.d_val & DF_BIND_NOW) != 0;
        case DT_FLAGS_1: return (entry.d_un.d_val & DF_1_NOW) != 0;
        default: return false;
    }
}

// The first object is the program itself. Ends the iteration with 1: lazy, 2: at start.
int visit_program(dl_phdr_info* object, std::size_t, void*) noexcept {
    for (int k = 0; k < object->dlpi_phnum; ++k) {
        if (object->dlpi_phdr[k].p_type != PT_DYNAMIC) continue;
        auto const section = object->dlpi_addr + object->dlpi_phdr[k].p_vaddr;
        return binds_at_start(reinterpret_cast<ElfW(Dyn) const*>(section)) ? 2 : 1;
    }
    return 2; // no dynamic section
}

} // namespace

bool binds_at_start(ElfW(Dyn) const* section) noexcept {
    while (section->d_tag != DT_NULL && !says_now(*section)) ++section;
    return section->d_tag != DT_NULL;
}

bool binds_at_start() noexcept {
    char const* const forced = std::getenv("LD_BIND_NOW");
    return (forced != nullptr && *forced != '\0') || dl_iterate_phdr(&visit_program, nullptr) != 1;
}

} // namespace tulle::os

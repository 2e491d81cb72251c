// SPDX-License-Identifier: Apache-2.0
#include "membership/foreign_fault.hpp"

#include "diag/fault_handler.hpp"
#include "diag/text_output.hpp"
#include "os/mapped_range.hpp"

#include <cinttypes>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

namespace tulle::membership {

namespace {

constexpr std::uintptr_t k_near_null = 64 * 1024;

struct known_places {
    net::session const* all = nullptr;
    net::rank here = 0;
};
known_places s_known; // set before the handler is

char const* name_for(char const* mapping) noexcept {
    if (std::strcmp(mapping, "[heap]") == 0) return "its heap";
    if (std::strncmp(mapping, "[stack", 6) == 0) return "the stack of its main thread";
    return *mapping == '\0' ? "its heap, or the stack of a thread," : "a file or shared memory";
}

bool are_shared() noexcept {
    char const* const chosen =
        ::secure_getenv("TULLE_SHARE_GLOBALS"); // NOLINT(concurrency-mt-unsafe)
    return chosen != nullptr && std::strcmp(chosen, "on") == 0;
}

void write_null(diag::text_output& to) noexcept {
    if (s_known.here == 0 || are_shared()) return;
    to.print(
        "tulle: fault: place %u follows a null pointer. Global variables are each place's own: "
        "what another place has stored in one is not here. Send it as an argument; programs "
        "for TNT and PARMACS can share them, by `tulle run --share-globals`.\n",
        s_known.here);
}

// False: it has nothing there either.
bool write_owner(diag::text_output& to, std::uintptr_t address, net::rank place) noexcept {
    // relaxed: it was stored before the place took part
    int const process = s_known.all->entry(place).process.load(std::memory_order_relaxed);
    if (process == 0) return false;
    os::named_range const found = os::mapping_of(process, address);
    if (found.range.high == 0) return false;
    to.print("tulle: fault: place %u has nothing that it may use at address 0x%" PRIxPTR
             "; place %u (process %d) has %s there. Addresses mean something at other places only "
             "if they are of global memory: what places share must be allocated there "
             "(tulle_global_malloc, tnt_malloc, G_MALLOC), or be sent as a value. If a lambda has "
             "captured a reference, `tulle run --check` says where it is sent.\n",
             s_known.here, address, place, process, name_for(found.name));
    return true;
}

void write_fault(std::uintptr_t address, int output) noexcept {
    diag::text_output to(output);
    if (address < k_near_null) return write_null(to);
    if (s_known.all == nullptr || os::mapping_of(0, address).range.high != 0) return;
    for (net::rank r = 0; r < s_known.all->places(); ++r)
        if (r != s_known.here && write_owner(to, address, r)) return;
}

} // namespace

void explain_faults(net::session const* all, net::rank here) noexcept {
    s_known = {all, here};
    diag::explain_others_by(&write_fault);
}

void stop_explaining_faults() noexcept { diag::explain_others_by(nullptr); }

} // namespace tulle::membership

// SPDX-License-Identifier: Apache-2.0
// The C functions of <tulle/c/coherent_memory.h>. Coherent memory is managed as global memory is:
// an allocation of the one stands for the same part of the other.
#include "capi/without_exceptions.hpp"
#include "dsm/coherent_host.hpp"
#include "dsm/settings.hpp"
#include "dsm/state_table.hpp"
#include "gmem_access/memory.hpp"
#include "os/shared_memory.hpp"

#include <tulle/c/coherent_memory.h>
#include <tulle/c/global_memory.h>
#include <tulle/c/place.h>
#include <tulle/place.hpp>
#include <tulle/runtime.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tulle::capi {
namespace {

using gmem_access::memory_of_caller;

// In the range of the checks, where no global memory is.
constexpr std::uint64_t k_address = TULLE_COHERENT_FIRST + TULLE_COHERENT_BYTES / 2;
constexpr std::uint64_t k_most_bytes = TULLE_COHERENT_BYTES / 2;

std::uint64_t number_of(void const* p) noexcept { return reinterpret_cast<std::uintptr_t>(p); }

// Where the part of coherent memory is that an address of global memory stands for.
std::uint64_t distance() {
    gmem::segments const* const table = memory_of_caller().table();
    if (table == nullptr)
        throw std::system_error(memory_of_caller().error(), std::generic_category());
    return k_address - table->low();
}

dsm::geometry chosen_geometry() {
    static_cast<void>(distance());
    std::uint64_t const chunk = dsm::used_chunks::k_bytes;
    std::uint64_t const bytes = (memory_of_caller().table()->size() + chunk - 1) / chunk * chunk;
    std::uint64_t const unit = dsm::chosen_settings().unit_bytes;
    if ((unit & (unit - 1)) != 0) throw std::system_error(EINVAL, std::generic_category());
    if (bytes > k_most_bytes) throw std::bad_alloc();
    return {k_address, bytes, unit / TULLE_COHERENT_LINE,
            static_cast<dsm::host_number>(tulle_place_count())};
}

dsm::host_map everybody_is_near() {
    dsm::host_map made;
    made.here = static_cast<dsm::host_number>(tulle_here());
    for (int h = 0; h < tulle_place_count(); ++h)
        made.near.push_back(static_cast<dsm::host_number>(h));
    return made;
}

// A place keeps it until the process ends, as checked code may run until then.
void keep_copy(dsm::geometry const& chosen, int descriptor) {
    if (worker_count() != 1) throw std::system_error(EBUSY, std::generic_category());
    if (!dsm::has_state_table()) throw std::system_error(ENOEXEC, std::generic_category());
    dsm::become_host(chosen, everybody_is_near(), descriptor);
}

// How other places find the file.
struct invitation {
    dsm::geometry chosen;
    std::int32_t process;
    std::int32_t descriptor;
};

int open_there(invitation const& from) noexcept try {
    std::string const path =
        "/proc/" + std::to_string(from.process) + "/fd/" + std::to_string(from.descriptor);
    return open(path.c_str(), O_RDWR | O_CLOEXEC);
} catch (std::bad_alloc const&) {
    errno = ENOMEM;
    return -1;
}

// Another host has another process of that number, or none.
bool is_expected(int descriptor, dsm::geometry const& chosen) noexcept {
    struct stat about {};
    return fstat(descriptor, &about) == 0 &&
           static_cast<std::uint64_t>(about.st_size) == dsm::file_size(chosen, chosen.hosts);
}

int join(invitation const& from) {
    return without_exceptions([&] {
        os::shared_file const file = os::shared_file::adopt(open_there(from));
        if (!file.is_open() || !is_expected(file.number(), from.chosen)) return -EXDEV;
        static_cast<void>(distance()); // global memory is there, too
        keep_copy(from.chosen, file.number());
        return 0;
    });
}

int begin() {
    invitation call{chosen_geometry(), getpid(), -1};
    os::shared_file const file = os::shared_file::create("tulle-coherent-memory");
    if (!file.is_open() || !file.grow(dsm::file_size(call.chosen, call.chosen.hosts)))
        return -errno;
    call.descriptor = file.number();
    keep_copy(call.chosen, file.number());
    for (int place = 1; place < tulle_place_count(); ++place)
        if (int const error = at(
                tulle::place(place), [](invitation const& from) { return join(from); }, call))
            return error;
    return 0;
}

} // namespace
} // namespace tulle::capi

using namespace tulle::capi;
namespace dsm = tulle::dsm;

int tulle_coherent_begin(void) {
    if (!dsm::chosen_settings().is_private || tulle_place_count() == 1) return 0;
    if (dsm::is_host()) return 0;
    return without_exceptions([] { return begin(); });
}

int tulle_coherent_malloc(void** address, size_t size) {
    int const error = tulle_global_malloc(address, size);
    if (error != 0 || !dsm::is_host()) return error;
    return without_exceptions([&] {
        std::uint64_t const made = number_of(*address) + distance();
        std::uint64_t const line = made / TULLE_COHERENT_LINE;
        dsm::add({line, (made + size - 1) / TULLE_COHERENT_LINE - line + 1});
        *address = reinterpret_cast<void*>(made); // NOLINT(performance-no-int-to-ptr)
        return 0;
    });
}

int tulle_coherent_free(void* address) {
    if (address == nullptr || !dsm::is_host()) return tulle_global_free(address);
    if (!dsm::contains(number_of(address))) return -EINVAL;
    return without_exceptions([&] {
        // NOLINTNEXTLINE(performance-no-int-to-ptr)
        return tulle_global_free(reinterpret_cast<void*>(number_of(address) - distance()));
    });
}

void tulle_coherent_share(void) {
    if (dsm::is_host()) dsm::share();
}
void tulle_coherent_release(void) {
    if (dsm::is_host()) dsm::release();
}
void tulle_coherent_acquire(void) {
    if (dsm::is_host()) dsm::acquire();
}

void tulle_coherent_use(void const* address, size_t size, int stores) {
    if (!dsm::is_host() || size == 0) return;
    std::uint64_t const first = number_of(address);
    std::uint64_t const last = first + std::min<std::uint64_t>(size - 1, UINT64_MAX - first);
    dsm::make_usable(first, last, stores != 0 ? dsm::access_kind::store : dsm::access_kind::load);
}

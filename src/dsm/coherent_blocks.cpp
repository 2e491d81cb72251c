// SPDX-License-Identifier: Apache-2.0
// Blocks of coherent memory (tulle/coherent_abi.h), which may have many lines. By states the lines
// of a block are made usable, and stay so until the caller synchronises. By the directory others
// may take any line at any time, so that a block goes line by line, by way of private memory.
#include "dsm/coherent_host.hpp"
#include "dsm/directory_host.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <tulle/coherent_abi.h>

namespace tulle::dsm {

namespace {

constexpr std::size_t k_line = TULLE_COHERENT_LINE;
using line_bytes = std::array<std::byte, k_line>;

std::uint64_t number_of(void const* p) noexcept { return reinterpret_cast<std::uintptr_t>(p); }

bool touches(void const* at, std::size_t bytes) noexcept {
    return contains(number_of(at)) || contains(number_of(at) + bytes - 1);
}

// Calls f(offset, bytes) for the parts of a block that lie in one line each.
template <class F> void each_part(void const* at, std::size_t bytes, F f) {
    for (std::size_t k = 0; k < bytes;) {
        std::size_t const part = std::min(bytes - k, k_line - (number_of(at) + k) % k_line);
        f(k, part);
        k += part;
    }
}

void load(directory_host& by, void const* from, void* to, std::size_t bytes) {
    each_part(from, bytes, [&](std::size_t k, std::size_t part) {
        auto const* const at = static_cast<std::byte const*>(from) + k;
        auto* const into = static_cast<std::byte*>(to) + k;
        if (!by.contains(number_of(at)))
            std::memcpy(into, at, part);
        else
            by.load(number_of(at), into, part);
    });
}

void store(directory_host& by, void* to, void const* from, std::size_t bytes) {
    each_part(to, bytes, [&](std::size_t k, std::size_t part) {
        auto* const at = static_cast<std::byte*>(to) + k;
        auto const* const what = static_cast<std::byte const*>(from) + k;
        if (!by.contains(number_of(at)))
            std::memcpy(at, what, part);
        else
            by.store(number_of(at), what, part);
    });
}

// Parts are of at most a line, and in the order in which none is overwritten before it is read.
void move(directory_host& by, void* to, void const* from, std::size_t bytes) {
    line_bytes between;
    auto const one = [&](std::size_t k, std::size_t part) {
        load(by, static_cast<std::byte const*>(from) + k, between.data(), part);
        store(by, static_cast<std::byte*>(to) + k, between.data(), part);
    };
    if (number_of(to) - number_of(from) >= bytes) // below, or not overlapping
        for (std::size_t k = 0; k < bytes; k += k_line) one(k, std::min(k_line, bytes - k));
    else
        for (std::size_t end = bytes; end != 0; end -= std::min(k_line, end))
            one(end - std::min(k_line, end), std::min(k_line, end));
}

void use(void const* at, std::size_t bytes, access_kind wanted) noexcept {
    make_usable(number_of(at), number_of(at) + bytes - 1, wanted);
}

void load(void const* from, void* to, std::size_t bytes) {
    if (by_directory() != nullptr) return load(*by_directory(), from, to, bytes);
    use(from, bytes, access_kind::load);
    std::memcpy(to, from, bytes);
}

void store(void* to, void const* from, std::size_t bytes) {
    if (by_directory() != nullptr) return store(*by_directory(), to, from, bytes);
    use(to, bytes, access_kind::store);
    std::memcpy(to, from, bytes);
}

// What was there when it was borrowed comes first: only bytes that have changed go back, as others
// may be somebody else's.
std::byte* borrowed_copy(void* at, std::size_t bytes) {
    auto* const made = static_cast<std::byte*>(std::malloc(2 * bytes));
    if (made == nullptr) base::fatal("coherent memory: no memory for a copy of %zu bytes", bytes);
    load(at, made, bytes);
    std::memcpy(made + bytes, made, bytes);
    return made + bytes;
}

void store_changes(std::byte* to, std::byte const* now, std::size_t bytes) {
    std::byte const* const before = now - bytes;
    for (std::size_t k = 0; k < bytes;) {
        std::size_t end = k;
        while (end < bytes && now[end] != before[end]) ++end;
        if (end != k) store(to + k, now + k, end - k);
        k = end + 1;
    }
}

// Where a string is looked at next, and how far: to the end of a line.
struct look {
    std::byte const* at;
    std::size_t bytes;
};

// What can be seen of it: `between`, where others may take the line away.
char const* seen(look const& l, line_bytes& between) {
    if (is_host() && contains(number_of(l.at))) {
        if (by_directory() == nullptr) {
            use(l.at, l.bytes, access_kind::load);
        } else {
            by_directory()->load(number_of(l.at), between.data(), l.bytes);
            return reinterpret_cast<char const*>(between.data());
        }
    }
    return reinterpret_cast<char const*>(l.at);
}

std::size_t bytes_up_to(int last, std::byte const* at, std::size_t most) {
    line_bytes between;
    for (std::size_t k = 0; k < most;) {
        look const l{at + k, std::min(most - k, k_line - (number_of(at) + k) % k_line)};
        char const* const first = seen(l, between);
        if (auto const* const found = static_cast<char const*>(std::memchr(first, last, l.bytes)))
            return k + static_cast<std::size_t>(found - first) + 1;
        k += l.bytes;
    }
    return most;
}

} // namespace

} // namespace tulle::dsm

using namespace tulle::dsm;

void tulle_coherent_copy(void* to, void const* from, std::uint64_t bytes) {
    if (bytes == 0) return;
    if (!is_host()) {
        std::memmove(to, from, bytes);
    } else if (by_directory() != nullptr) {
        move(*by_directory(), to, from, bytes);
    } else {
        use(from, bytes, access_kind::load);
        use(to, bytes, access_kind::store);
        std::memmove(to, from, bytes);
    }
}

void tulle_coherent_fill(void* to, int byte, std::uint64_t bytes) {
    if (bytes == 0) return;
    directory_host* const by = by_directory();
    if (by == nullptr || !touches(to, bytes)) {
        if (is_host()) use(to, bytes, access_kind::store);
        std::memset(to, byte, bytes);
        return;
    }
    each_part(to, bytes, [&](std::size_t k, std::size_t part) {
        auto* const at = static_cast<std::byte*>(to) + k;
        if (by->contains(number_of(at)))
            by->fill(number_of(at), static_cast<std::uint8_t>(byte), part);
        else
            std::memset(at, byte, part);
    });
}

void* tulle_coherent_borrow(void* at, std::uint64_t bytes, int stores) {
    if (!is_host() || bytes == 0 || bytes > PTRDIFF_MAX || !touches(at, bytes)) return at;
    if (by_directory() != nullptr || stores == TULLE_COHERENT_STORES_LATE)
        return borrowed_copy(at, bytes);
    use(at, bytes, stores != 0 ? access_kind::store : access_kind::load);
    return at;
}

void tulle_coherent_return(void* at, void* borrowed, std::uint64_t bytes, std::uint64_t stored) {
    if (borrowed == at) return;
    auto* const now = static_cast<std::byte*>(borrowed);
    if (stored == TULLE_COHERENT_STORED_SOME)
        store_changes(static_cast<std::byte*>(at), now, bytes);
    else if (stored != 0)
        store(at, now, std::min(stored, bytes));
    std::free(now - bytes);
}

std::uint64_t tulle_coherent_string(std::uint64_t address, std::uint64_t most) {
    return tulle_coherent_find(address, 0, most);
}

std::uint64_t tulle_coherent_find(std::uint64_t address, int byte, std::uint64_t most) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    return bytes_up_to(byte, reinterpret_cast<std::byte const*>(address), most);
}

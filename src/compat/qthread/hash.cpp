// SPDX-License-Identifier: Apache-2.0
// Mixers of the SplitMix64 kind: multiplications by odd constants and shifts, each step a
// bijection.
#include "compat/qthread/arguments.hpp"

#include <qthread/hash.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

uint64_t qt_hash64(uint64_t key) {
    key += 0x9e3779b97f4a7c15U;
    key = (key ^ (key >> 30U)) * 0xbf58476d1ce4e5b9U;
    key = (key ^ (key >> 27U)) * 0x94d049bb133111ebU;
    return key ^ (key >> 31U);
}

aligned_t qt_hash_bytes(void* key_ptr, size_t bytes, aligned_t state) {
    if (!tulle::compat::is_bytes(key_ptr, bytes)) return state;
    auto const* from = static_cast<unsigned char const*>(key_ptr);
    std::uint64_t hash = state ^ (bytes * 0x9e3779b97f4a7c15U);
    for (std::size_t left = bytes; left != 0;) {
        std::size_t const now = left < 8 ? left : 8;
        std::uint64_t word = 0;
        std::memcpy(&word, from, now);
        hash = qt_hash64(hash ^ word);
        from += now;
        left -= now;
    }
    return static_cast<aligned_t>(qt_hash64(hash));
}

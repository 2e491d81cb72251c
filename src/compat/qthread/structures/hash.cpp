// SPDX-License-Identifier: Apache-2.0
// Steps of SplitMix64: multiplications by odd constants and shifts, each step a bijection.
#include "base/rng.hpp"
#include "compat/qthread/library/arguments.hpp"

#include <qthread/hash.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

uint64_t qt_hash64(uint64_t key) { return tulle::base::rng(key).next(); }

aligned_t qt_hash_bytes(void* key_ptr, size_t bytes, aligned_t state) {
    if (!tulle::compat::is_bytes(key_ptr, bytes)) return state;
    auto const* from = static_cast<unsigned char const*>(key_ptr);
    std::uint64_t hash = state ^ (bytes * tulle::base::k_golden_ratio);
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

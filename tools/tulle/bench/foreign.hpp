// SPDX-License-Identifier: Apache-2.0
// Peers in other languages: goroutines, Java virtual threads, Rayon. Their sources lie in peers/
// beside the benchmark programs and are compiled when first wanted, into the user's cache, if their
// toolchain is present.
#pragma once

#include "bench/catalog.hpp"

namespace tulle::tool {

struct foreign_peers {
    std::vector<contestant> contestants{};
    // A sentence for each that cannot take part, though it has a program for what is measured.
    std::vector<std::string> absent{};
};

// Those that measure one of `wanted`. With `build` false nothing is compiled, so only peers that an
// earlier call has compiled take part.
[[nodiscard]] foreign_peers find_foreign_peers(std::filesystem::path const& bench_folder,
                                               std::vector<std::string_view> const& wanted,
                                               bool build);

} // namespace tulle::tool

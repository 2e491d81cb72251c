// SPDX-License-Identifier: Apache-2.0
//
// An image of 8-bit RGB pixels, and PNG files of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace examples {

struct pixel {
    std::uint8_t red;
    std::uint8_t green;
    std::uint8_t blue;
    friend bool operator==(pixel const&, pixel const&) = default;
};

struct image {
    std::size_t width = 0;
    std::size_t height = 0;
    std::vector<pixel> pixels; // row by row, the top one first

    image() = default;
    image(std::size_t w, std::size_t h) : width(w), height(h), pixels(w * h) {}
    friend bool operator==(image const&, image const&) = default;
};

// Both throw std::runtime_error with the file's name.
void write_png(image const& picture, std::string const& name);
[[nodiscard]] image read_png(std::string const& name);

} // namespace examples

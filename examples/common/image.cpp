// SPDX-License-Identifier: Apache-2.0
#include "image.hpp"

#include <png.h>
#include <stdexcept>

namespace examples {

namespace {

png_image header_of(image const& picture) {
    png_image header{};
    header.version = PNG_IMAGE_VERSION;
    header.width = static_cast<png_uint_32>(picture.width);
    header.height = static_cast<png_uint_32>(picture.height);
    header.format = PNG_FORMAT_RGB;
    return header;
}

[[noreturn]] void fail(char const* what, std::string const& name, png_image& header) {
    std::string const reason = header.message;
    png_image_free(&header);
    throw std::runtime_error(std::string(what) + " '" + name + "': " + reason);
}

} // namespace

void write_png(image const& picture, std::string const& name) {
    png_image header = header_of(picture);
    if (png_image_write_to_file(&header, name.c_str(), 0, picture.pixels.data(), 0, nullptr) == 0)
        fail("cannot write", name, header);
}

image read_png(std::string const& name) {
    png_image header = header_of({});
    if (png_image_begin_read_from_file(&header, name.c_str()) == 0)
        fail("cannot read", name, header);
    header.format = PNG_FORMAT_RGB;
    image picture(header.width, header.height);
    if (png_image_finish_read(&header, nullptr, picture.pixels.data(), 0, nullptr) == 0)
        fail("cannot read", name, header);
    return picture;
}

} // namespace examples

// SPDX-License-Identifier: Apache-2.0
//
// Draws the Mandelbrot set, a thread for each row: rows differ in cost by a factor of a hundred,
// stealing evens that out.
#include "common/contest.hpp"
#include "common/image.hpp"
#include "common/policies.hpp"

#include <cmath>

namespace {

using namespace examples;

struct view {
    double x = -0.745; // of the centre
    double y = 0.1;
    double width = 0.02; // of the picture, in the plane
    int iterations = 1000;
};

// Steps until the orbit of c leaves the circle of radius 2, at most limit.
int escape_time(double cx, double cy, int limit) {
    double x = 0;
    double y = 0;
    for (int i = 0; i < limit; ++i) {
        double const xx = x * x;
        double const yy = y * y;
        if (xx + yy > 4) return i;
        y = 2 * x * y + cy;
        x = xx - yy + cx;
    }
    return limit;
}

pixel colour_of(int steps, int limit) {
    if (steps == limit) return {0, 0, 0};
    double const t = std::sqrt(static_cast<double>(steps) / limit);
    auto const wave = [t](double phase) {
        return static_cast<std::uint8_t>(127.5 * (1 + std::cos(6.2832 * (1.5 * t + phase))));
    };
    return {wave(0.55), wave(0.45), wave(0.3)};
}

void draw_row(image& picture, view const& v, std::size_t row) {
    double const step = v.width / static_cast<double>(picture.width);
    double const left = v.x - v.width / 2;
    double const cy =
        v.y + step * (static_cast<double>(picture.height) / 2 - static_cast<double>(row));
    for (std::size_t i = 0; i < picture.width; ++i) {
        int const steps = escape_time(left + step * static_cast<double>(i), cy, v.iterations);
        picture.pixels[row * picture.width + i] = colour_of(steps, v.iterations);
    }
}

image draw_serially(std::size_t width, std::size_t height, view const& v) {
    image picture(width, height);
    for (std::size_t row = 0; row < height; ++row) draw_row(picture, v, row);
    return picture;
}

// Draws with each library, writes what Tulle drew, and reads it back.
bool draw(std::size_t width, std::size_t height, view const& v, std::string const& output,
          common_options const& options) {
    image const reference = draw_serially(width, height, v);
    image picture;
    contest const event{
        "mandelbrot", std::to_string(width) + " x " + std::to_string(height) + " pixels",
        [&] { picture = image(width, height); }, [&] { return picture == reference; },
        contestants_for([&picture, &v]<class Policy>() {
            parallel_for<Policy>(0, picture.height,
                                 [&](std::size_t row) { draw_row(picture, v, row); });
        })};
    bool const ok = hold_contest(event, options);
    if (output.empty()) return ok;
    write_png(picture, output);
    if (!options.tsv) std::printf("  written to %s\n", output.c_str());
    return ok && read_png(output) == reference;
}

} // namespace

int main(int argc, char** argv) {
    command_line line{"Draws the Mandelbrot set into a PNG file.", "mandelbrot"};
    common_options options;
    view v;
    std::size_t width = 1920;
    std::size_t height = 1080;
    std::string output = "mandelbrot.png";
    line.text("-o,--output", output, "file to write; empty: none");
    line.number("--width", width, "pixels", 1, 30000);
    line.number("--height", height, "pixels", 1, 30000);
    line.number("--x", v.x, "centre of the picture, real part", -4.0, 4.0);
    line.number("--y", v.y, "centre of the picture, imaginary part", -4.0, 4.0);
    line.number("--span", v.width, "width of the picture in the plane", 1e-12, 8.0);
    line.number("--iterations", v.iterations, "steps after which a point counts as in the set", 1,
                10000000);
    add_contest_options(line, options);
    return line.run(argc, argv, [&] {
        runtime_session const session(options);
        return draw(width, height, v, output, options) ? k_exit_ok : k_exit_check_failed;
    });
}

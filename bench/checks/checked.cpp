// SPDX-License-Identifier: Apache-2.0
#include "checks.hpp"

#include "entries.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <tulle/coherent_abi.h>

#include "os/fixed_range.hpp"

namespace tulle::bench {

namespace {

constexpr sizes k_sizes{1, 0, 0}; // 1: as a benchmark, 0: as short as a test

// Coherent memory of this program, all of which may be touched.
class memory {
public:
    explicit memory(std::size_t bytes) : m_bytes(bytes) {
        m_range = os::fixed_range::reserve(TULLE_COHERENT_FIRST, bytes);
        if (m_range.is_valid() && m_range.fill(0, bytes)) return;
        std::fprintf(stderr, "checks: %zu bytes of memory: %s\n", bytes, std::strerror(errno));
        std::exit(1);
    }
    [[nodiscard]] void* data() const { return m_range.low(); }
    void set_states(unsigned char state) const {
        auto const lines = (m_bytes >> TULLE_COHERENT_LINE_SHIFT) + 1;
        // NOLINTNEXTLINE(performance-no-int-to-ptr)
        std::memset(reinterpret_cast<void*>(TULLE_COHERENT_TABLE), state, lines);
    }

private:
    os::fixed_range m_range;
    std::size_t m_bytes;
};

std::string unit_of(char const* unit, checked_kernel const& kernel) {
    return std::string(unit) + ", " + kernel.name + ' ' + kernel.level;
}

// With states that forbid everything each check calls the run time.
std::uint64_t count_checks(checked_kernel const& kernel, memory const& block, int size) {
    block.set_states(TULLE_COHERENT_NO_LOAD | TULLE_COHERENT_NO_STORE);
    counts_checks = 1;
    checks_counted = 0;
    kernel.run(block.data(), size);
    counts_checks = 0;
    block.set_states(0);
    return checks_counted;
}

void measure(std::string_view kind, checked_kernel const& kernel, settings const& s,
             std::vector<figure>& figures) {
    int const size = kernel.size(s.n == 0);
    memory const block(kernel.bytes(size));
    std::uint64_t const wanted = kernel.run_plainly(block.data(), size);
    figure time(unit_of("ms", kernel));
    for (int run = 0; run < s.runs; ++run) {
        std::uint64_t found = 0;
        double const taken = time_of([&] { found = kernel.run(block.data(), size); });
        time.add(taken * 1e3, found == wanted);
    }
    figures.push_back(time);
    figures.push_back(figure(unit_of("bytes of code", kernel)));
    figures.back().add(static_cast<double>(kernel.code_end - kernel.code_begin), true);
    // By the directory loads call the run time only where a line is not there.
    bool const is_by_directory = kind == "directory";
    figures.push_back(
        figure(unit_of(is_by_directory ? "stores checked" : "checks executed", kernel)));
    figures.back().add(static_cast<double>(count_checks(kernel, block, size)), true);
}

} // namespace

int checks_main(char const* kind, std::vector<checked_kernel> const& kernels, int argc,
                char** argv) {
    settings const s = parse(argc, argv, k_sizes);
    pin_if_single(s);
    std::vector<figure> figures;
    for (checked_kernel const& kernel : kernels) measure(kind, kernel, s, figures);
    return print_all("checks", (std::string("checked_") + kind).c_str(), s, figures);
}

} // namespace tulle::bench

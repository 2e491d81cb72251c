// SPDX-License-Identifier: Apache-2.0
// The variables of the program (.data, .bss): what a created process gets of its creator, or what
// all processes share. They travel as they are, so all processes must have the program at the same
// address. What the dynamic linker has written into them stays each process's own when they travel:
//   kept    its tables, and objects of libraries that the program holds (copy relocations, as of
//           stdout);
//   links   words of the program that hold addresses of other objects. A link that the program has
//           not changed becomes the receiver's.
// Variables of threads, of shared libraries, and the heap do not travel.
#pragma once

#include "compat/program/ranges.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tulle::program {

class program_data {
public:
    // Looked at before main, when links are as the dynamic linker has left them. std::bad_alloc.
    [[nodiscard]] static program_data const& of_process();

    // Where the system has put the program; its addresses are offsets from it.
    [[nodiscard]] std::uint64_t base() const noexcept { return m_base; }
    // Whether that address is in the program, rather than in a library.
    [[nodiscard]] bool has(void const* address) const noexcept;
    [[nodiscard]] std::vector<std::uint64_t> const& links_at_start() const noexcept {
        return m_links_at_start;
    }
    // What may differ from the zeros that memory begins with. std::bad_alloc.
    [[nodiscard]] ranges touched() const;
    // Takes the variables of the process at that place, which waits meanwhile, and whose touched()
    // and links_at_start() these are. 0, or a negative errno value: then the variables are a
    // mixture. std::bad_alloc.
    [[nodiscard]] int replace(int place, ranges const& sent,
                              std::vector<std::uint64_t> const& links) const;

    // --- for variables that several processes share (shared_variables.hpp) ----------------------
    // Whole pages that hold all variables, and none of what is not written to after the start.
    // std::bad_alloc.
    [[nodiscard]] ranges pages() const;
    // Writes to `memory`, which is zero, what those pages hold, one range after the other.
    // std::bad_alloc.
    void copy_pages(ranges const& pages, std::byte* memory) const;

    struct copied_object {
        char const* name;
        std::uint64_t hash; // of its bytes when it was looked at
    };
    // Objects of libraries that the program holds (copy relocations).
    [[nodiscard]] std::vector<copied_object> const& copies() const noexcept { return m_copies; }

private:
    friend class program_reader;
    program_data() = default;

    struct segment {
        range whole;
        std::uint64_t zeros; // from here on they are not from the file
    };
    [[nodiscard]] ranges all_touched() const;

    std::uint64_t m_base = 0;
    ranges m_program; // all that is loaded of it
    std::vector<segment> m_writable;
    ranges m_kept;
    ranges m_fixed; // pages that are not written to after the start
    std::vector<copied_object> m_copies;
    std::vector<std::uint64_t> m_links;
    std::vector<std::uint64_t> m_links_at_start;
};

} // namespace tulle::program

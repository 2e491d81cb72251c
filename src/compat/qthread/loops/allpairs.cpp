// SPDX-License-Identifier: Apache-2.0
// All pairs, in tiles of neighbouring units of both arrays that fit into a cache, by a loop of
// Tulle.
#include "compat/qthread/library/arguments.hpp"
#include "compat/qthread/loops/segments.hpp"

#include <qthread/allpairs.h>

#include <tulle/parallel_for.hpp>

#include <algorithm>
#include <cstddef>

namespace {

using namespace tulle;

constexpr std::size_t k_most_in_tile = 64; // units of each array

// The units of an array in blocks that lie within a segment.
class unit_blocks {
public:
    explicit unit_blocks(qarray const& a)
        : m_array(a),
          m_length(std::min(k_most_in_tile, a.segment_size)),
          m_in_segment((a.segment_size + m_length - 1) / m_length) {}
    [[nodiscard]] std::size_t count() const noexcept {
        std::size_t const whole = m_array.count / m_array.segment_size;
        return whole * m_in_segment +
               (m_array.count % m_array.segment_size + m_length - 1) / m_length;
    }
    [[nodiscard]] std::size_t begin(std::size_t block) const noexcept {
        return block / m_in_segment * m_array.segment_size + block % m_in_segment * m_length;
    }
    [[nodiscard]] std::size_t end(std::size_t block) const noexcept {
        std::size_t const segment_end = (block / m_in_segment + 1) * m_array.segment_size;
        return std::min({begin(block) + m_length, segment_end, m_array.count});
    }

private:
    qarray const& m_array;
    std::size_t m_length;
    std::size_t m_in_segment; // blocks
};

// f(i, unit i, j, unit j) for the pairs of two blocks.
template <class F>
void visit_tile(qarray const& a, qarray const& b, unit_blocks const& as, std::size_t ka,
                unit_blocks const& bs, std::size_t kb, F const& f) {
    auto const* const first_b = static_cast<char const*>(qarray_elem_nomigrate(&b, bs.begin(kb)));
    auto const* unit_a = static_cast<char const*>(qarray_elem_nomigrate(&a, as.begin(ka)));
    for (std::size_t i = as.begin(ka); i != as.end(ka); ++i, unit_a += a.unit_size) {
        auto const* unit_b = first_b;
        for (std::size_t j = bs.begin(kb); j != bs.end(kb); ++j, unit_b += b.unit_size)
            f(i, unit_a, j, unit_b);
    }
}

template <class F> void all_pairs(qarray const* a, qarray const* b, F const& f) {
    if (!compat::is_object(a) || !compat::is_object(b)) return;
    unit_blocks const as(*a), bs(*b);
    std::size_t const across = bs.count();
    parallel_for(std::size_t{0}, as.count() * across,
                 [&](std::size_t k) { visit_tile(*a, *b, as, k / across, bs, k % across, f); });
}

} // namespace

void qt_allpairs(qarray const* array1, qarray const* array2, dist_f distfunc) {
    if (distfunc == nullptr) return;
    all_pairs(array1, array2,
              [=](std::size_t, void const* a, std::size_t, void const* b) { distfunc(a, b); });
}

void qt_allpairs_output(qarray const* array1, qarray const* array2, dist_out_f distfunc,
                        void* restrict* restrict output, size_t outsize) {
    if (distfunc == nullptr || !compat::is_object_or_null(const_cast<void**>(output))) return;
    all_pairs(array1, array2, [=](std::size_t i, void const* a, std::size_t j, void const* b) {
        distfunc(a, b, output != nullptr ? static_cast<char*>(output[i]) + j * outsize : nullptr);
    });
}

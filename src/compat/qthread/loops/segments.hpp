// SPDX-License-Identifier: Apache-2.0
// The segments of a qarray and to whom they belong. What <qthread/qarray.h> shows is a part of it.
#pragma once

#include <qthread/qarray.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>

namespace tulle::compat {

struct segmented_array : qarray {
    std::size_t segments = 0;
    // At the creation: who owns what does not change when some are disabled.
    std::size_t shepherds = 1;
    std::unique_ptr<std::atomic<qthread_shepherd_id_t>[]> owners; // DIST only
    bool is_counted = false; // among the segments that each shepherd has

    segmented_array() : qarray{} {}
    segmented_array(segmented_array const&) = delete;
    segmented_array& operator=(segmented_array const&) = delete;
    ~segmented_array();

    [[nodiscard]] std::size_t bytes() const noexcept { return segments * segment_bytes; }
    [[nodiscard]] std::size_t segment_of(std::size_t unit) const noexcept {
        return unit / segment_size;
    }
    // Its units, as far as they are in [start, stop).
    [[nodiscard]] std::size_t begin(std::size_t segment, std::size_t start) const noexcept {
        return std::max(start, segment * segment_size);
    }
    [[nodiscard]] std::size_t end(std::size_t segment, std::size_t stop) const noexcept {
        return std::min(stop, (segment + 1) * segment_size);
    }
    [[nodiscard]] qthread_shepherd_id_t owner(std::size_t segment) const noexcept;
    void give(std::size_t segment, qthread_shepherd_id_t shepherd) noexcept; // DIST
    void give_all(qthread_shepherd_id_t shepherd) noexcept;                  // ALL_SAME
    // At the creation.
    void choose_owners(distribution_t how);

private:
    void choose_each(distribution_t how);
    void count_all(std::size_t change) const noexcept;
};

[[nodiscard]] inline segmented_array& as_segmented(qarray* a) noexcept {
    return *static_cast<segmented_array*>(a);
}
[[nodiscard]] inline segmented_array const& as_segmented(qarray const* a) noexcept {
    return *static_cast<segmented_array const*>(a);
}

} // namespace tulle::compat

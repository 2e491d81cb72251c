// SPDX-License-Identifier: Apache-2.0
// The scale of a chart: values to places from 0 to 1, linear from zero, or by decades when the
// values span more than a factor of 20.
#pragma once

#include <vector>

namespace tulle::tool {

class value_scale {
public:
    // All values first, then settle() unless the scale is to be linear whatever they are, then the
    // questions. Values of zero and below do not count.
    void include(double low, double high);
    void settle();

    [[nodiscard]] bool by_decades() const { return m_decades; }
    [[nodiscard]] double place(double value) const;
    [[nodiscard]] std::vector<double> ticks() const;

private:
    double m_low = 0;
    double m_high = 0;
    bool m_decades = false;
};

} // namespace tulle::tool

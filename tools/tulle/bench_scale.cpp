// SPDX-License-Identifier: Apache-2.0
#include "bench_scale.hpp"

#include <algorithm>
#include <cmath>

namespace tulle::tool {

void value_scale::include(double low, double high) {
    if (high <= 0) return;
    if (low <= 0) low = high;
    m_low = m_high == 0 ? low : std::min(m_low, low);
    m_high = std::max(m_high, high);
}

void value_scale::settle() {
    m_decades = m_low > 0 && m_high / m_low > 20;
    if (!m_decades) return;
    m_low = std::pow(10, std::floor(std::log10(m_low)));
    m_high = std::pow(10, std::ceil(std::log10(m_high)));
}

double value_scale::place(double value) const {
    if (value <= 0 || m_high <= 0) return 0;
    if (!m_decades) return value / m_high;
    return std::max(0.0, std::log(value / m_low) / std::log(m_high / m_low));
}

std::vector<double> value_scale::ticks() const {
    std::vector<double> marks;
    if (m_high <= 0) return marks;
    if (m_decades) {
        for (double mark = m_low; mark <= m_high * 1.001; mark *= 10) marks.push_back(mark);
        return marks;
    }
    double const raw = m_high / 4;
    double const unit = std::pow(10, std::floor(std::log10(raw)));
    double const step = unit * (raw / unit >= 5 ? 5 : raw / unit >= 2 ? 2 : 1);
    for (double mark = 0; mark <= m_high; mark += step) marks.push_back(mark);
    return marks;
}

} // namespace tulle::tool

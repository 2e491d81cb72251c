// SPDX-License-Identifier: Apache-2.0
#include "bench_plot.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace tulle::tool {

namespace {

constexpr double k_label_width = 130;
constexpr double k_plot_width = 470;
constexpr double k_value_width = 120;
constexpr double k_row_height = 24;
constexpr double k_bar_height = 14;
constexpr double k_axis_height = 22;

// Values to pixels: linear from zero, or by decades when the values span more than a factor of 20.
class scale {
public:
    explicit scale(figure_group const& g) {
        for (figure const& f : g.rows) {
            if (!f.measured() || f.max <= 0) continue;
            double const low = f.min > 0 ? f.min : f.max;
            m_low = m_high == 0 ? low : std::min(m_low, low);
            m_high = std::max(m_high, f.max);
        }
        m_decades = m_low > 0 && m_high / m_low > 20;
        if (!m_decades) return;
        m_low = std::pow(10, std::floor(std::log10(m_low)));
        m_high = std::pow(10, std::ceil(std::log10(m_high)));
    }

    [[nodiscard]] bool by_decades() const { return m_decades; }

    [[nodiscard]] double place(double value) const {
        if (value <= 0 || m_high <= 0) return 0;
        if (!m_decades) return k_plot_width * value / m_high;
        return k_plot_width * std::max(0.0, std::log(value / m_low) / std::log(m_high / m_low));
    }

    [[nodiscard]] std::vector<double> ticks() const {
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

private:
    double m_low = 0;
    double m_high = 0;
    bool m_decades = false;
};

char const* css_class(std::string const& library) {
    if (is_ours(library)) return "ours";
    return is_peer(library) ? "peer" : "floor";
}

void draw_axis(std::ostream& out, scale const& s, double bottom) {
    for (double const mark : s.ticks()) {
        double const x = k_label_width + s.place(mark);
        out << "<line class=\"grid\" x1=\"" << x << "\" x2=\"" << x << "\" y1=\"0\" y2=\"" << bottom << "\"/>"
            << "<text class=\"tick\" text-anchor=\"middle\" x=\"" << x << "\" y=\"" << bottom + 15 << "\">" << short_number(mark)
            << "</text>";
    }
}

void draw_spread(std::ostream& out, figure const& f, scale const& s, double middle) {
    double const low = k_label_width + s.place(f.min);
    double const high = k_label_width + s.place(f.max);
    if (high - low < 3) return;
    out << "<path class=\"spread\" d=\"M" << low << ' ' << middle << 'H' << high << "M" << low << ' ' << middle - 3 << "v6M" << high << ' '
        << middle - 3 << "v6\"/>";
}

void draw_row(std::ostream& out, figure_group const& g, figure const& f, scale const& s, double top) {
    double const middle = top + k_row_height / 2;
    double const width = f.measured() ? std::max(2.0, s.place(f.value())) : 0;
    double const end = k_label_width + std::max(width, f.measured() ? s.place(f.max) : 0);
    std::string const value = f.measured() ? short_number(f.value()) : "failed";
    out << "<g><title>" << escape_html(f.library) << ": median " << value << ", " << short_number(f.min) << " to " << short_number(f.max)
        << ", " << f.runs << " runs, n = " << f.n << "</title>"
        << "<text class=\"name " << css_class(f.library) << "\" text-anchor=\"end\" x=\"" << k_label_width - 8 << "\" y=\"" << middle + 4
        << "\">" << escape_html(f.library) << "</text>"
        << "<rect class=\"" << css_class(f.library) << "\" x=\"" << k_label_width << "\" y=\"" << middle - k_bar_height / 2 << "\" width=\""
        << width << "\" height=\"" << k_bar_height << "\" rx=\"2\"/>";
    if (f.measured()) draw_spread(out, f, s, middle);
    out << "<text class=\"value\" x=\"" << end + 6 << "\" y=\"" << middle + 4 << "\">" << value
        << (g.comparable(f) ? "" : " (n = " + std::to_string(f.n) + ")") << "</text></g>\n";
}

} // namespace

std::string escape_html(std::string const& text) {
    std::string safe;
    for (char const c : text) {
        if (c == '&')
            safe += "&amp;";
        else if (c == '<')
            safe += "&lt;";
        else if (c == '>')
            safe += "&gt;";
        else if (c == '"')
            safe += "&quot;";
        else
            safe += c;
    }
    return safe;
}

std::string plot(figure_group const& g) {
    scale const s(g);
    double const bottom = k_row_height * static_cast<double>(g.rows.size());
    std::ostringstream out;
    out << "<svg role=\"img\" aria-label=\"" << escape_html(g.bench + ", " + g.unit) << "\" viewBox=\"0 0 "
        << k_label_width + k_plot_width + k_value_width << ' ' << bottom + k_axis_height << "\">\n";
    draw_axis(out, s, bottom);
    double top = 0;
    for (figure const& f : g.rows) {
        draw_row(out, g, f, s, top);
        top += k_row_height;
    }
    out << "</svg>";
    if (s.by_decades()) out << "<p class=\"hint\">logarithmic scale</p>";
    return out.str();
}

} // namespace tulle::tool

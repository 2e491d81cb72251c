// SPDX-License-Identifier: Apache-2.0
#include "bench_plot.hpp"

#include "bench_catalog.hpp"
#include "bench_scale.hpp"

#include <algorithm>
#include <sstream>

namespace tulle::tool {

namespace {

constexpr double k_label_width = 160;
constexpr double k_plot_width = 470;
constexpr double k_value_gap = 6;
constexpr double k_wide_character = 7.2; // of 12 pixels; most are narrower
constexpr double k_row_height = 24;
constexpr double k_bar_height = 14;
constexpr double k_axis_height = 22;

class scale {
public:
    explicit scale(figure_group const& g) {
        for (figure const& f : g.rows)
            if (f.measured()) m_values.include(f.min, std::max(f.max, f.limit));
        m_values.settle();
    }

    [[nodiscard]] bool by_decades() const { return m_values.by_decades(); }
    [[nodiscard]] std::vector<double> ticks() const { return m_values.ticks(); }
    // pixels
    [[nodiscard]] double place(double value) const { return k_plot_width * m_values.place(value); }

private:
    value_scale m_values;
};

// Between backends, the assembly stands out from what it is compared with.
char const* css_class(figure_group const& g, std::string const& library) {
    if (compares_backends(g.bench) ? library == k_assembly : is_ours(library)) return "ours";
    return is_ours(library) || is_peer(library) ? "peer" : "floor";
}

void draw_axis(std::ostream& out, scale const& s, double bottom) {
    for (double const mark : s.ticks()) {
        double const x = k_label_width + s.place(mark);
        out << "<line class=\"grid\" x1=\"" << x << "\" x2=\"" << x << "\" y1=\"0\" y2=\"" << bottom
            << "\"/>"
            << "<text class=\"tick\" text-anchor=\"middle\" x=\"" << x << "\" y=\"" << bottom + 15
            << "\">" << short_number(mark) << "</text>";
    }
}

void draw_spread(std::ostream& out, figure const& f, scale const& s, double middle) {
    double const low = k_label_width + s.place(f.min);
    double const high = k_label_width + s.place(f.max);
    if (high - low < 3) return;
    out << "<path class=\"spread\" d=\"M" << low << ' ' << middle << 'H' << high << "M" << low
        << ' ' << middle - 3 << "v6M" << high << ' ' << middle - 3 << "v6\"/>";
}

void draw_limit(std::ostream& out, figure const& f, scale const& s, double middle) {
    double const x = k_label_width + s.place(f.limit);
    out << "<path class=\"spread\" d=\"M" << x << ' ' << middle - k_bar_height / 2 << 'v'
        << k_bar_height << "\"><title>at most " << short_number(f.limit) << "</title></path>";
}

std::string label_of(figure const& f) {
    return f.counted() ? f.architecture + ' ' + f.library : f.library;
}

// What is written behind the bar.
std::string value_text(figure_group const& g, figure const& f) {
    if (!f.measured()) return "failed";
    double const ratio = g.ratio_to_assembly(f);
    std::string const times =
        ratio > 0 && f.library != k_assembly ? ", " + short_number(ratio) + " x tulle" : "";
    return short_number(f.value()) + times +
           (g.comparable(f) ? "" : " (n = " + std::to_string(f.n) + ")");
}

// Where the longest of what belongs to the bar ends.
double end_of_row(figure const& f, scale const& s) {
    if (!f.measured()) return k_label_width;
    return k_label_width + std::max({2.0, s.place(f.value()), s.place(f.max), s.place(f.limit)});
}

double width_of(figure_group const& g, scale const& s) {
    double most = k_label_width + k_plot_width;
    for (figure const& f : g.rows)
        most = std::max(most, end_of_row(f, s) + k_value_gap + text_width(value_text(g, f)));
    return most;
}

void draw_row(std::ostream& out, figure_group const& g, figure const& f, scale const& s,
              double top) {
    double const middle = top + k_row_height / 2;
    double const width = f.measured() ? std::max(2.0, s.place(f.value())) : 0;
    char const* const kind = css_class(g, f.library);
    std::string const value = f.measured() ? short_number(f.value()) : "failed";
    out << "<g><title>" << escape_html(label_of(f)) << ": median " << value << ", "
        << short_number(f.min) << " to " << short_number(f.max) << ", " << f.runs
        << " runs, n = " << f.n << "</title>"
        << "<text class=\"name " << kind << "\" text-anchor=\"end\" x=\"" << k_label_width - 8
        << "\" y=\"" << middle + 4 << "\">" << escape_html(label_of(f)) << "</text>"
        << "<rect class=\"" << kind << "\" x=\"" << k_label_width << "\" y=\""
        << middle - k_bar_height / 2 << "\" width=\"" << width << "\" height=\"" << k_bar_height
        << "\" rx=\"2\"/>";
    if (f.measured()) draw_spread(out, f, s, middle);
    if (f.limit > 0) draw_limit(out, f, s, middle);
    out << "<text class=\"value\" x=\"" << end_of_row(f, s) + k_value_gap << "\" y=\"" << middle + 4
        << "\">" << value_text(g, f) << "</text></g>\n";
}

} // namespace

double text_width(std::string const& text) {
    return k_wide_character * static_cast<double>(text.size());
}

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
    out << "<svg role=\"img\" aria-label=\"" << escape_html(g.bench + ", " + g.unit)
        << "\" viewBox=\"0 0 " << width_of(g, s) << ' ' << bottom + k_axis_height << "\">\n";
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

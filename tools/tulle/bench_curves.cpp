// SPDX-License-Identifier: Apache-2.0
#include "bench_curves.hpp"

#include "bench_plot.hpp"
#include "bench_scale.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace tulle::tool {

namespace {

constexpr double k_left = 72;
constexpr double k_curve_width = 500;
constexpr double k_name_gap = 10;
constexpr double k_top = 10;
constexpr double k_plot_height = 240;
constexpr double k_curve_axis_height = 40;
constexpr double k_text_height = 15;
constexpr double k_mark_width = 46;  // between marks on the axis, so that no number covers another
constexpr std::size_t k_colours = 8; // as many as the style of the page has
constexpr std::size_t k_dashes = 4;

struct point {
    double at;
    double value;
};

struct curve {
    std::string library;
    std::string name;          // of those that the library has
    std::vector<point> points; // from left to right
    [[nodiscard]] std::string title() const {
        return name.empty() ? library : library + " " + name;
    }
};

std::vector<curve> curves_in(std::vector<figure> const& figures, bool over_workers) {
    std::vector<curve> curves;
    for (figure const& f : figures) {
        std::string const name = over_workers ? "" : f.curve;
        auto const found = std::find_if(curves.begin(), curves.end(), [&](curve const& c) {
            return c.library == f.library && c.name == name;
        });
        curve& c = found != curves.end() ? *found : curves.emplace_back(curve{f.library, name, {}});
        c.points.push_back({over_workers ? f.workers : f.at, f.value()});
    }
    for (curve& c : curves)
        std::sort(c.points.begin(), c.points.end(),
                  [](point const& a, point const& b) { return a.at < b.at; });
    return curves;
}

std::vector<double> marks_of(std::vector<curve> const& curves) {
    std::vector<double> all;
    for (curve const& c : curves)
        for (point const& p : c.points) all.push_back(p.at);
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

// The numbers of the names among them all, which choose colours and dashes.
std::size_t number_of(std::vector<std::string> const& names, std::string const& name) {
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}
void add_once(std::vector<std::string>& names, std::string const& name) {
    if (number_of(names, name) == names.size()) names.push_back(name);
}

void turn_into_speedup(curve& c) {
    double const first = c.points.front().value;
    for (point& p : c.points) p.value = p.value > 0 ? first / p.value : 0;
}

struct axis_of {
    std::string name;
    bool may_be_logarithmic;
};

class chart {
public:
    chart(std::vector<curve> curves, std::string unit, axis_of axis)
        : m_curves(std::move(curves)),
          m_marks(marks_of(m_curves)),
          m_unit(std::move(unit)),
          m_axis(std::move(axis.name)),
          m_logarithmic(axis.may_be_logarithmic && m_marks.front() > 0 &&
                        m_marks.back() / m_marks.front() > 10) {
        for (curve const& c : m_curves) {
            add_once(m_libraries, c.library);
            add_once(m_names, c.name);
            for (point const& p : c.points) m_values.include(p.value, p.value);
        }
    }

    // A dashed line along which the speed-up is the number of workers.
    void draw_ideal() {
        m_ideal = true;
        m_values.include(1, m_marks.back() / m_marks.front());
    }

    void allow_decades() { m_values.settle(); }

    [[nodiscard]] std::string draw() const {
        std::ostringstream out;
        out << "<svg role=\"img\" aria-label=\"" << escape_html(m_unit) << " by the number of "
            << escape_html(m_axis) << "\" viewBox=\"0 0 " << width() << ' '
            << k_top + k_plot_height + k_curve_axis_height << "\">\n";
        draw_axes(out);
        if (m_ideal) draw_ideal_line(out);
        draw_curves(out);
        out << "</svg>" << (m_values.by_decades() ? "<p class=\"hint\">logarithmic scale</p>" : "");
        return out.str();
    }

private:
    [[nodiscard]] double across(double at) const {
        auto const scaled = [this](double x) { return m_logarithmic ? std::log(x) : x; };
        double const low = scaled(m_marks.front());
        return k_left + k_curve_width * (scaled(at) - low) / (scaled(m_marks.back()) - low);
    }
    // Names stand behind the ends of their lines, and nothing is cut off.
    [[nodiscard]] double width() const {
        double most = k_left + k_curve_width;
        for (curve const& c : m_curves)
            most = std::max(most, name_left(c) + text_width(label_of(c)));
        return most;
    }
    [[nodiscard]] double name_left(curve const& c) const {
        return across(c.points.back().at) + k_name_gap;
    }
    [[nodiscard]] static std::string label_of(curve const& c) {
        return c.title() + ' ' + short_number(c.points.back().value);
    }
    [[nodiscard]] double down(double value) const {
        return k_top + k_plot_height * (1 - m_values.place(value));
    }
    [[nodiscard]] std::string mark_text(double at) const {
        return m_axis == "bytes" ? short_bytes(at) : count_number(at);
    }

    void draw_axes(std::ostream& out) const {
        for (double const mark : m_values.ticks())
            out << "<line class=\"grid\" x1=\"" << k_left << "\" x2=\"" << k_left + k_curve_width
                << "\" y1=\"" << down(mark) << "\" y2=\"" << down(mark)
                << "\"/><text class=\"tick\" text-anchor=\"end\" x=\"" << k_left - 8 << "\" y=\""
                << down(mark) + 4 << "\">" << short_number(mark) << "</text>";
        double last = -k_mark_width;
        for (double const at : m_marks) {
            if (across(at) - last < k_mark_width) continue;
            last = across(at);
            draw_mark(out, at);
        }
        out << "<text class=\"tick\" text-anchor=\"middle\" x=\"" << k_left + k_curve_width / 2
            << "\" y=\"" << k_top + k_plot_height + 2 * k_text_height + 4 << "\">"
            << escape_html(m_axis) << "</text>\n";
    }

    void draw_mark(std::ostream& out, double at) const {
        double const bottom = k_top + k_plot_height;
        out << "<line class=\"grid\" x1=\"" << across(at) << "\" x2=\"" << across(at) << "\" y1=\""
            << k_top << "\" y2=\"" << bottom
            << "\"/><text class=\"tick\" text-anchor=\"middle\" x=\"" << across(at) << "\" y=\""
            << bottom + k_text_height << "\">" << mark_text(at) << "</text>";
    }

    void draw_ideal_line(std::ostream& out) const {
        double const most = m_marks.back() / m_marks.front();
        out << "<line class=\"ideal\" x1=\"" << across(m_marks.front()) << "\" y1=\"" << down(1)
            << "\" x2=\"" << across(m_marks.back()) << "\" y2=\"" << down(most) << "\"/>\n";
    }

    // From the top line's name down, so that no name covers another.
    void draw_curves(std::ostream& out) const {
        std::vector<curve const*> order;
        for (curve const& c : m_curves) order.push_back(&c);
        std::sort(order.begin(), order.end(), [](curve const* a, curve const* b) {
            return a->points.back().value > b->points.back().value;
        });
        double lowest = k_top - k_text_height;
        for (curve const* const c : order) {
            lowest = std::max(lowest + k_text_height, down(c->points.back().value));
            draw_curve(out, *c, lowest);
        }
    }

    // A colour for each library, and dashes for each of its curves.
    void draw_curve(std::ostream& out, curve const& c, double name_at) const {
        out << "<g class=\"curve curve" << number_of(m_libraries, c.library) % k_colours << " dash"
            << number_of(m_names, c.name) % k_dashes << "\"><polyline class=\"line\" points=\"";
        for (point const& p : c.points) out << across(p.at) << ',' << down(p.value) << ' ';
        out << "\"/>";
        for (point const& p : c.points)
            out << "<circle r=\"4\" cx=\"" << across(p.at) << "\" cy=\"" << down(p.value)
                << "\"><title>" << escape_html(c.title()) << ", " << mark_text(p.at) << ' '
                << escape_html(m_axis) << ": " << short_number(p.value) << ' '
                << escape_html(m_unit) << "</title></circle>";
        out << "<text x=\"" << name_left(c) << "\" y=\"" << name_at + 4 << "\">"
            << escape_html(label_of(c)) << "</text></g>\n";
    }

    std::vector<curve> m_curves;
    std::vector<double> m_marks; // on the axis
    std::string m_unit;
    std::string m_axis;
    bool m_logarithmic; // the axis
    std::vector<std::string> m_libraries{};
    std::vector<std::string> m_names{};
    value_scale m_values{};
    bool m_ideal = false;
};

std::string drawn_by_decades(std::vector<curve> curves, std::string const& unit, axis_of axis) {
    if (marks_of(curves).size() < 2) return "";
    chart drawn(std::move(curves), unit, std::move(axis));
    drawn.allow_decades();
    return drawn.draw();
}

// Of the same curve at the same place; 0: there is none.
double value_in(figure_chart const& chart, figure const& shown) {
    for (figure const& f : chart.points)
        if (f.library == shown.library && f.curve == shown.curve && f.at == shown.at)
            return f.value();
    return 0;
}

} // namespace

std::string curves_of_values(std::vector<figure> const& figures) {
    return figures.empty() ? ""
                           : drawn_by_decades(curves_in(figures, true), figures.front().unit,
                                              {"workers", false});
}

std::string curves_of_speedup(std::vector<figure> const& figures) {
    std::vector<curve> curves = curves_in(figures, true);
    std::vector<double> const workers = marks_of(curves);
    // Nothing to compare with.
    std::erase_if(curves,
                  [&workers](curve const& c) { return c.points.front().at != workers.front(); });
    if (workers.size() < 2 || curves.empty()) return "";
    for (curve& c : curves) turn_into_speedup(c);
    chart drawn(std::move(curves), "x", {"workers", false});
    drawn.draw_ideal();
    return drawn.draw();
}

std::string curves_of_chart(figure_chart const& chart) {
    return drawn_by_decades(curves_in(chart.points, false), chart.unit, {chart.axis, true});
}

std::string speedup_of_chart(figure_chart const& base, figure_chart const& chart) {
    std::vector<figure> ratios;
    for (figure f : chart.points) {
        double const before = value_in(base, f);
        if (before <= 0 || f.value() <= 0) continue;
        f.values = {before / f.value()};
        ratios.push_back(std::move(f));
    }
    return drawn_by_decades(curves_in(ratios, false), "x", {chart.axis, true});
}

} // namespace tulle::tool

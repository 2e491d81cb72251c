// SPDX-License-Identifier: Apache-2.0
#include "bench_curves.hpp"

#include "bench_plot.hpp"
#include "bench_scale.hpp"

#include <algorithm>
#include <sstream>

namespace tulle::tool {

namespace {

constexpr double k_left = 60;
constexpr double k_plot_width = 500;
constexpr double k_name_width = 190;
constexpr double k_top = 10;
constexpr double k_plot_height = 240;
constexpr double k_axis_height = 40;
constexpr double k_text_height = 15;
constexpr std::size_t k_colours = 4;

struct point {
    int workers;
    double value;
};

struct curve {
    std::string library;
    std::vector<point> points; // by the number of workers
};

std::vector<curve> curves_in(std::vector<figure> const& figures) {
    std::vector<curve> curves;
    for (figure const& f : figures) {
        auto const found = std::find_if(curves.begin(), curves.end(), [&f](curve const& c) { return c.library == f.library; });
        curve& c = found != curves.end() ? *found : curves.emplace_back(curve{f.library, {}});
        c.points.push_back({f.workers, f.value()});
    }
    for (curve& c : curves)
        std::sort(c.points.begin(), c.points.end(), [](point const& a, point const& b) { return a.workers < b.workers; });
    return curves;
}

std::vector<int> workers_of(std::vector<curve> const& curves) {
    std::vector<int> all;
    for (curve const& c : curves)
        for (point const& p : c.points) all.push_back(p.workers);
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

void turn_into_speedup(curve& c) {
    double const first = c.points.front().value;
    for (point& p : c.points) p.value = p.value > 0 ? first / p.value : 0;
}

class chart {
public:
    chart(std::vector<curve> curves, std::string unit)
        : m_curves(std::move(curves)), m_workers(workers_of(m_curves)), m_unit(std::move(unit)) {
        for (curve const& c : m_curves)
            for (point const& p : c.points) m_values.include(p.value, p.value);
    }

    // A dashed line along which the speed-up is the number of workers.
    void draw_ideal() {
        m_ideal = true;
        m_values.include(1, static_cast<double>(m_workers.back()) / m_workers.front());
    }

    void allow_decades() { m_values.settle(); }

    [[nodiscard]] std::string draw() const {
        std::ostringstream out;
        out << "<svg role=\"img\" aria-label=\"" << escape_html(m_unit) << " by the number of workers\" viewBox=\"0 0 "
            << k_left + k_plot_width + k_name_width << ' ' << k_top + k_plot_height + k_axis_height << "\">\n";
        draw_axes(out);
        if (m_ideal) draw_ideal_line(out);
        draw_curves(out);
        out << "</svg>" << (m_values.by_decades() ? "<p class=\"hint\">logarithmic scale</p>" : "");
        return out.str();
    }

private:
    [[nodiscard]] double across(int workers) const {
        double const width = m_workers.back() - m_workers.front();
        return k_left + k_plot_width * (workers - m_workers.front()) / width;
    }
    [[nodiscard]] double down(double value) const { return k_top + k_plot_height * (1 - m_values.place(value)); }

    void draw_axes(std::ostream& out) const {
        double const bottom = k_top + k_plot_height;
        for (double const mark : m_values.ticks())
            out << "<line class=\"grid\" x1=\"" << k_left << "\" x2=\"" << k_left + k_plot_width << "\" y1=\"" << down(mark) << "\" y2=\""
                << down(mark) << "\"/><text class=\"tick\" text-anchor=\"end\" x=\"" << k_left - 8 << "\" y=\"" << down(mark) + 4 << "\">"
                << short_number(mark) << "</text>";
        for (int const workers : m_workers)
            out << "<line class=\"grid\" x1=\"" << across(workers) << "\" x2=\"" << across(workers) << "\" y1=\"" << k_top << "\" y2=\""
                << bottom << "\"/><text class=\"tick\" text-anchor=\"middle\" x=\"" << across(workers) << "\" y=\""
                << bottom + k_text_height << "\">" << workers << "</text>";
        out << "<text class=\"tick\" text-anchor=\"middle\" x=\"" << k_left + k_plot_width / 2 << "\" y=\""
            << bottom + 2 * k_text_height + 4 << "\">workers</text>\n";
    }

    void draw_ideal_line(std::ostream& out) const {
        double const most = static_cast<double>(m_workers.back()) / m_workers.front();
        out << "<line class=\"ideal\" x1=\"" << across(m_workers.front()) << "\" y1=\"" << down(1) << "\" x2=\"" << across(m_workers.back())
            << "\" y2=\"" << down(most) << "\"/>\n";
    }

    // From the top line's name down, so that no name covers another.
    void draw_curves(std::ostream& out) const {
        std::vector<std::size_t> order;
        for (std::size_t i = 0; i < m_curves.size(); ++i) order.push_back(i);
        std::sort(order.begin(), order.end(),
                  [this](std::size_t a, std::size_t b) { return m_curves[a].points.back().value > m_curves[b].points.back().value; });
        double lowest = k_top - k_text_height;
        for (std::size_t const i : order) {
            lowest = std::max(lowest + k_text_height, down(m_curves[i].points.back().value));
            draw_curve(out, m_curves[i], i, lowest);
        }
    }

    void draw_curve(std::ostream& out, curve const& c, std::size_t index, double name_at) const {
        out << "<g class=\"curve curve" << index % k_colours << "\"><polyline class=\"line\" points=\"";
        for (point const& p : c.points) out << across(p.workers) << ',' << down(p.value) << ' ';
        out << "\"/>";
        for (point const& p : c.points)
            out << "<circle r=\"4\" cx=\"" << across(p.workers) << "\" cy=\"" << down(p.value) << "\"><title>" << escape_html(c.library)
                << ", " << p.workers << " workers: " << short_number(p.value) << ' ' << escape_html(m_unit) << "</title></circle>";
        out << "<text x=\"" << across(c.points.back().workers) + 10 << "\" y=\"" << name_at + 4 << "\">" << escape_html(c.library) << ' '
            << short_number(c.points.back().value) << "</text></g>\n";
    }

    std::vector<curve> m_curves;
    std::vector<int> m_workers;
    std::string m_unit;
    value_scale m_values;
    bool m_ideal = false;
};

} // namespace

std::string curves_of_values(std::vector<figure> const& figures) {
    std::vector<curve> curves = curves_in(figures);
    if (workers_of(curves).size() < 2) return "";
    chart drawn(std::move(curves), figures.front().unit);
    drawn.allow_decades();
    return drawn.draw();
}

std::string curves_of_speedup(std::vector<figure> const& figures) {
    std::vector<curve> curves = curves_in(figures);
    std::vector<int> const workers = workers_of(curves);
    std::erase_if(curves, [&workers](curve const& c) { return c.points.front().workers != workers.front(); }); // nothing to compare with
    if (workers.size() < 2 || curves.empty()) return "";
    for (curve& c : curves) turn_into_speedup(c);
    chart drawn(std::move(curves), "x");
    drawn.draw_ideal();
    return drawn.draw();
}

} // namespace tulle::tool

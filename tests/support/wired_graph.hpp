// SPDX-License-Identifier: Apache-2.0
//
// Graphs of objects with pointers of all kinds, as they travel between places: random ones, whether
// two have the same form, and their end.
#pragma once

#include "base/rng.hpp"

#include <tulle/wire.hpp>

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace wired {

struct vertex;
using edge = std::shared_ptr<vertex>;

// Of several classes behind pointers to `mark`.
struct mark {
    mark() = default;
    mark(mark const&) = delete;
    mark& operator=(mark const&) = delete;
    virtual ~mark() = default;
    [[nodiscard]] virtual std::string text() const = 0;
    [[nodiscard]] virtual edge next() const { return nullptr; }
};
struct number_mark final : mark {
    std::int32_t number = 0;
    [[nodiscard]] std::string text() const override { return std::to_string(number); }
    template <class Archive> void serialize(Archive& archive) { archive(number); }
};
struct name_mark : mark {
    std::string name;
    [[nodiscard]] std::string text() const override { return name; }
    template <class Archive> void serialize(Archive& archive) { archive(name); }
};
// Leads back into the graph.
struct edge_mark : name_mark {
    edge to;
    [[nodiscard]] edge next() const override { return to; }
    template <class Archive> void serialize(Archive& archive) { archive(name, to); }
};

// Found by its members.
struct vertex {
    std::int64_t label = 0;
    std::vector<edge> edges;
    std::weak_ptr<vertex> watched;
    std::optional<edge> maybe;
    std::variant<int, std::string, edge, std::unique_ptr<vertex>> either;
    std::map<std::string, edge> named;
    std::list<std::shared_ptr<vertex const>> constant;
    std::unique_ptr<vertex> owned;
    std::shared_ptr<mark> marked;
    std::set<edge> all;
};

} // namespace wired

template <>
struct tulle::kinds_of<wired::mark>
    : tulle::kinds<wired::number_mark, wired::name_mark, wired::edge_mark> {};

namespace wired {

// Takes a graph apart, so that its cycles do not keep it.
class end_of_graph {
public:
    static void take_apart(std::vector<edge> roots) {
        end_of_graph all;
        for (edge& one : roots) all.add(std::move(one));
        for (std::size_t k = 0; k < all.m_owned.size(); ++k) all.strip(*all.m_owned[k]);
    }

private:
    void add(edge one) {
        if (one != nullptr && m_known.insert(one.get()).second) m_owned.push_back(std::move(one));
    }
    void strip(vertex& one) {
        for (edge& e : one.edges) add(std::move(e));
        if (one.maybe) add(std::move(*one.maybe));
        if (auto* e = std::get_if<edge>(&one.either)) add(std::move(*e));
        if (auto* e = std::get_if<std::unique_ptr<vertex>>(&one.either)) add(std::move(*e));
        for (auto& e : one.named) add(std::move(e.second));
        for (auto& e : one.constant) add(std::const_pointer_cast<vertex>(std::move(e)));
        add(std::move(one.owned));
        if (auto* e = dynamic_cast<edge_mark*>(one.marked.get())) add(std::move(e->to));
        for (edge const& e : one.all) add(e);
        std::int64_t const label = one.label;
        one = vertex{};
        one.label = label;
    }

    std::vector<edge> m_owned;
    std::set<vertex const*> m_known;
};

class random_graph {
public:
    explicit random_graph(std::uint64_t seed) : m_random(seed) {
        std::uint32_t const count = m_random.below(m_random.below(4) == 0 ? 200 : 12);
        for (std::uint32_t k = 0; k < count; ++k) {
            m_vertices.push_back(std::make_shared<vertex>());
            m_vertices.back()->label = k;
        }
        make_marks();
        for (edge const& one : m_vertices) fill(*one, 2);
        for (std::uint32_t k = m_random.below(4); k != 0; --k) roots.push_back(any());
    }

    random_graph(random_graph const&) = delete;
    random_graph& operator=(random_graph const&) = delete;
    ~random_graph() {
        end_of_graph::take_apart(std::move(m_vertices));
        for (auto const& one : m_marks)
            if (auto* const e = dynamic_cast<edge_mark*>(one.get())) e->to.reset();
    }

    std::vector<edge> roots;

private:
    [[nodiscard]] edge any() {
        if (m_vertices.empty() || m_random.below(5) == 0) return nullptr;
        return m_vertices[m_random.below(static_cast<std::uint32_t>(m_vertices.size()))];
    }
    [[nodiscard]] std::string text() { return std::string(m_random.below(20), 'x'); }
    void make_marks() {
        for (int k = 0; k < 3; ++k) {
            auto number = std::make_shared<number_mark>();
            number->number = k;
            auto name = std::make_shared<name_mark>();
            name->name = text();
            auto to = std::make_shared<edge_mark>();
            to->name = text();
            to->to = any();
            m_marks.insert(m_marks.end(), {number, name, to, nullptr});
        }
    }
    void choose_one(vertex& one, int depth) {
        switch (m_random.below(4)) {
            case 0: one.either = static_cast<int>(m_random.below(100)); break;
            case 1: one.either = text(); break;
            case 2: one.either = any(); break;
            default:
                if (depth != 0) one.either = own(depth - 1);
        }
    }
    [[nodiscard]] std::unique_ptr<vertex> own(int depth) {
        if (m_random.below(3) != 0) return nullptr;
        auto one = std::make_unique<vertex>();
        one->label = -1 - static_cast<std::int64_t>(m_random.below(100));
        fill(*one, depth);
        return one;
    }
    void fill(vertex& one, int depth) {
        for (std::uint32_t k = m_random.below(4); k != 0; --k) one.edges.push_back(any());
        one.watched = any();
        if (m_random.below(2) == 0) one.maybe = any();
        choose_one(one, depth);
        for (std::uint32_t k = m_random.below(3); k != 0; --k) one.named[text()] = any();
        for (std::uint32_t k = m_random.below(3); k != 0; --k) one.constant.push_back(any());
        if (depth != 0) one.owned = own(depth - 1);
        one.marked = m_marks[m_random.below(static_cast<std::uint32_t>(m_marks.size()))];
        for (std::uint32_t k = m_random.below(3); k != 0; --k) one.all.insert(any());
    }

    tulle::base::rng m_random;
    std::vector<edge> m_vertices;
    std::vector<std::shared_ptr<mark>> m_marks;
};

// Which object of one graph is which of another one; a vertex can only be one of the other's.
class comparison {
public:
    // What is different first; empty: nothing.
    [[nodiscard]] static std::string difference(std::vector<edge> const& a,
                                                std::vector<edge> const& b) {
        comparison all;
        if (a.size() != b.size()) return "number of roots";
        for (std::size_t k = 0; k < a.size(); ++k) all.owners(a[k].get(), b[k].get(), "roots");
        while (!all.m_waiting.empty() && all.m_difference.empty()) {
            auto const next = all.m_waiting.back();
            all.m_waiting.pop_back();
            all.vertices(*next.first, *next.second);
        }
        all.watchers();
        return all.m_difference;
    }

private:
    void demand(bool is_so, char const* what) {
        if (!is_so && m_difference.empty()) m_difference = what;
    }
    template <class T> [[nodiscard]] bool is_new(T const* a, T const* b, char const* what) {
        demand((a == nullptr) == (b == nullptr), what);
        if (a == nullptr || b == nullptr) return false;
        auto const [there, is_new] = m_there.try_emplace(a, b);
        auto const [here, is_other_new] = m_here.try_emplace(b, a);
        demand(there->second == b && here->second == a, what);
        return is_new && is_other_new;
    }
    void owners(vertex const* a, vertex const* b, char const* what) {
        if (is_new(a, b, what)) m_waiting.emplace_back(a, b);
    }
    void vertices(vertex const& a, vertex const& b) {
        demand(a.label == b.label, "label");
        edges(a, b);
        choices(a, b);
        keys(a, b);
        owners(a.owned.get(), b.owned.get(), "owned");
        marks(a.marked.get(), b.marked.get());
        m_watchers.emplace_back(&a, &b);
    }
    void edges(vertex const& a, vertex const& b) {
        demand(a.edges.size() == b.edges.size(), "number of edges");
        demand(a.constant.size() == b.constant.size(), "number of constant edges");
        if (!m_difference.empty()) return;
        for (std::size_t k = 0; k < a.edges.size(); ++k)
            owners(a.edges[k].get(), b.edges[k].get(), "edges");
        for (auto at = a.constant.begin(), bt = b.constant.begin(); at != a.constant.end();
             ++at, ++bt)
            owners(at->get(), bt->get(), "constant edges");
    }
    void choices(vertex const& a, vertex const& b) {
        demand(a.maybe.has_value() == b.maybe.has_value(), "optional");
        demand(a.either.index() == b.either.index(), "alternative");
        if (!m_difference.empty()) return;
        if (a.maybe) owners(a.maybe->get(), b.maybe->get(), "optional edge");
        if (a.either.index() < 2) demand(a.either == b.either, "value of a variant");
        if (auto const* one = std::get_if<edge>(&a.either))
            owners(one->get(), std::get<edge>(b.either).get(), "edge in a variant");
        if (auto const* one = std::get_if<std::unique_ptr<vertex>>(&a.either))
            owners(one->get(), std::get<std::unique_ptr<vertex>>(b.either).get(),
                   "owned by a variant");
    }
    void keys(vertex const& a, vertex const& b) {
        demand(a.named.size() == b.named.size() && a.all.size() == b.all.size(), "number of keys");
        if (!m_difference.empty()) return;
        for (auto at = a.named.begin(), bt = b.named.begin(); at != a.named.end(); ++at, ++bt) {
            demand(at->first == bt->first, "name");
            owners(at->second.get(), bt->second.get(), "named edge");
        }
        // By addresses, which differ: only what is known by its label.
        std::multiset<std::int64_t> labels;
        for (edge const& one : a.all) labels.insert(one != nullptr ? one->label : -1000);
        for (edge const& one : b.all) {
            auto const found = labels.find(one != nullptr ? one->label : -1000);
            demand(found != labels.end(), "set of edges");
            if (found == labels.end()) return;
            labels.erase(found);
        }
        pair_by_label(a.all, b.all);
    }
    void pair_by_label(std::set<edge> const& a, std::set<edge> const& b) {
        for (edge const& one : a)
            for (edge const& other : b)
                if (one != nullptr && other != nullptr && one->label == other->label)
                    owners(one.get(), other.get(), "edge in a set");
    }
    void marks(mark const* a, mark const* b) {
        if (!is_new(a, b, "mark")) return;
        demand(typeid(*a) == typeid(*b) && a->text() == b->text(), "class or text of a mark");
        owners(a->next().get(), b->next().get(), "edge of a mark");
    }
    // What is watched arrives if something else owns it.
    void watchers() {
        for (auto const& [a, b] : m_watchers) {
            auto const watched = a->watched.lock();
            auto const found = m_there.find(watched.get());
            void const* const expected = watched != nullptr && found != m_there.end()
                                             ? found->second
                                             : static_cast<void const*>(nullptr);
            demand(b->watched.lock().get() == expected, "watched");
        }
    }

    std::unordered_map<void const*, void const*> m_there;
    std::unordered_map<void const*, void const*> m_here;
    std::vector<std::pair<vertex const*, vertex const*>> m_waiting;
    std::vector<std::pair<vertex const*, vertex const*>> m_watchers;
    std::string m_difference;
};

} // namespace wired

// SPDX-License-Identifier: Apache-2.0
// Pointers travel with what they lead to: owned, shared and watched objects, cycles, classes with
// virtual functions, lists of any length on small stacks; and aggregates by their members.
#include "base/sanitize.hpp"
#include "on_small_stack.hpp"

#include <tulle/wire.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

namespace {

using graph_bytes = std::vector<std::byte>;

template <class T> graph_bytes graph_bytes_of(T const& value) {
    tulle::wire_writer out;
    out.put(value);
    return {out.data(), out.data() + out.size()};
}
template <class T> T graph_of(graph_bytes const& bytes) {
    tulle::wire_reader in(bytes);
    T value = in.get<T>();
    EXPECT_EQ(in.left(), 0U);
    return value;
}
template <class T> T travelled(T const& value) { return graph_of<T>(graph_bytes_of(value)); }

// Whatever is cut off, the rest is refused.
template <class T> void expect_refused_when_cut_off(T const& value) {
    graph_bytes const bytes = graph_bytes_of(value);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        graph_bytes const some(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
        tulle::wire_reader in(some);
        EXPECT_THROW(static_cast<void>(in.get<T>()), tulle::wire_error) << size;
    }
}

// Bytes by hand.
class hostile_bytes {
public:
    template <class T> hostile_bytes& operator()(T const& value) {
        m_out.put(value);
        return *this;
    }
    hostile_bytes& says(tulle::detail::mention how) { return (*this)(how); }
    template <class T> void expect_refused() const {
        tulle::wire_reader in({m_out.data(), m_out.size()});
        EXPECT_THROW(static_cast<void>(in.get<T>()), tulle::wire_error);
    }

private:
    tulle::wire_writer m_out;
};

using tulle::detail::mention;

// --- aggregates ----------------------------------------------------------------------------------

struct plain_parts {
    int number = 0;
    std::string name;
    friend bool operator==(plain_parts const&, plain_parts const&) = default;
};
struct many_parts {
    std::string a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p;
    int a2, b2, c2, d2, e2, f2, g2, h2, i2, j2, k2, l2, m2, n2, o2, p2;
    friend bool operator==(many_parts const&, many_parts const&) = default;
};
struct odd_parts {
    int const constant = 3;
    std::string text;
    std::optional<std::string> maybe;
    std::array<std::string, 2> both;
    std::tuple<> none;
    plain_parts nested;
    std::vector<plain_parts> many;
    friend bool operator==(odd_parts const&, odd_parts const&) = default;
};
struct bits_and_bytes {
    unsigned few : 3;
    unsigned some : 7;
    char text[9];
    union {
        int number;
        float weight;
    };
};

TEST(wire_graph, aggregates_travel_by_their_members) {
    plain_parts const plain{7, "seven"};
    EXPECT_EQ(travelled(plain), plain);
    EXPECT_EQ(travelled(plain_parts{}), plain_parts{});
    odd_parts const odd{4, "text", "maybe", {"a", "b"}, {}, plain, {plain, {}}};
    EXPECT_EQ(travelled(odd), odd);
    EXPECT_EQ(travelled(std::map<std::string, odd_parts>{{"odd", odd}}).at("odd"), odd);
    many_parts many{};
    many.a = "first";
    many.p = "last text";
    many.p2 = 32;
    EXPECT_EQ(travelled(many), many);
    expect_refused_when_cut_off(odd);
    expect_refused_when_cut_off(many);
}

TEST(wire_graph, aggregates_that_are_bytes_travel_as_these) {
    bits_and_bytes const sent{5, 100, "letters", {42}};
    bits_and_bytes const got = travelled(sent);
    EXPECT_EQ(got.few, 5U);
    EXPECT_EQ(got.some, 100U);
    EXPECT_STREQ(got.text, "letters");
    EXPECT_EQ(got.number, 42);
    EXPECT_EQ(graph_bytes_of(sent).size(), sizeof sent);
}

struct by_value_tree {
    int number = 0;
    std::vector<by_value_tree> below;
    std::map<std::string, by_value_tree> named;
    friend bool operator==(by_value_tree const&, by_value_tree const&) = default;
};

TEST(wire_graph, recursive_types) {
    by_value_tree const sent{1, {{2, {}, {}}, {3, {{4, {}, {}}}, {}}}, {{"five", {5, {}, {}}}}};
    EXPECT_EQ(travelled(sent), sent);
    expect_refused_when_cut_off(sent);
}

TEST(wire_graph, sequences_and_variants) {
    EXPECT_EQ(travelled(std::deque<std::string>{"a", ""}), (std::deque<std::string>{"a", ""}));
    EXPECT_EQ(travelled(std::list<int>{1, 2}), (std::list<int>{1, 2}));
    using choice = std::variant<std::monostate, int, std::string, std::vector<std::string>>;
    for (choice const& sent :
         {choice(), choice(5), choice("text"), choice(std::vector<std::string>{"a"})}) {
        EXPECT_EQ(travelled(sent), sent);
        expect_refused_when_cut_off(sent);
    }
    EXPECT_EQ(travelled(std::vector<choice>{5, "a"}), (std::vector<choice>{5, "a"}));
    hostile_bytes()(std::uint8_t{4}).expect_refused<choice>();
    hostile_bytes()(std::uint8_t{255}).expect_refused<choice>();
}

struct throws_when_made {
    throws_when_made() = default;
    explicit throws_when_made(int /*why*/) { throw std::runtime_error("as asked"); }
    std::string text;
    template <class Archive> void serialize(Archive& archive) { archive(text); }
};

TEST(wire_graph, a_variant_without_a_value_is_refused) {
    std::variant<std::string, throws_when_made> lost;
    EXPECT_THROW(lost.emplace<1>(1), std::runtime_error);
    ASSERT_TRUE(lost.valueless_by_exception());
    tulle::wire_writer out;
    EXPECT_THROW(out.put(lost), std::invalid_argument);
}

// --- owned, shared, watched ----------------------------------------------------------------------

TEST(wire_graph, owned_objects) {
    EXPECT_EQ(travelled(std::unique_ptr<int>()), nullptr);
    EXPECT_EQ(*travelled(std::make_unique<int>(5)), 5);
    EXPECT_EQ(*travelled(std::make_unique<std::string const>("text")), "text");
    EXPECT_EQ(*travelled(std::make_unique<plain_parts>(plain_parts{1, "one"})),
              (plain_parts{1, "one"}));
    EXPECT_EQ(**travelled(std::make_unique<std::unique_ptr<int>>(std::make_unique<int>(6))), 6);
    std::vector<std::unique_ptr<std::string>> several;
    several.push_back(std::make_unique<std::string>("a"));
    several.push_back(nullptr);
    several.push_back(std::make_unique<std::string>("b"));
    auto const got = travelled(several);
    ASSERT_EQ(got.size(), 3U);
    EXPECT_EQ(*got[0], "a");
    EXPECT_EQ(got[1], nullptr);
    EXPECT_EQ(*got[2], "b");
    expect_refused_when_cut_off(several);
}

TEST(wire_graph, an_object_that_is_shared_stays_so) {
    auto const one = std::make_shared<std::string>("shared");
    std::tuple<std::shared_ptr<std::string>, std::vector<std::shared_ptr<std::string const>>,
               std::optional<std::shared_ptr<std::string>>,
               std::map<int, std::shared_ptr<std::string>>>
        sent{one, {one, std::make_shared<std::string>("shared"), nullptr}, one, {{1, one}}};
    auto const got = travelled(sent);
    auto const& first = std::get<0>(got);
    EXPECT_EQ(*first, "shared");
    EXPECT_NE(first, one);
    EXPECT_EQ(std::get<1>(got)[0], first);
    EXPECT_NE(std::get<1>(got)[1], first);
    EXPECT_EQ(*std::get<1>(got)[1], "shared");
    EXPECT_EQ(std::get<1>(got)[2], nullptr);
    EXPECT_EQ(*std::get<2>(got), first);
    EXPECT_EQ(std::get<3>(got).at(1), first);
    EXPECT_EQ(first.use_count(), 4);
    expect_refused_when_cut_off(sent);
}

TEST(wire_graph, arguments_of_one_call_share_and_other_values_do_not) {
    auto const one = std::make_shared<int>(1);
    tulle::wire_writer out;
    out.put_all(one, std::vector{one}, 5);
    out.put(one);
    tulle::wire_reader in({out.data(), out.size()});
    auto const [a, b, c] =
        in.get_all<std::shared_ptr<int>, std::vector<std::shared_ptr<int>>, int>();
    EXPECT_EQ(a, b[0]);
    EXPECT_EQ(c, 5);
    auto const d = in.get<std::shared_ptr<int>>();
    EXPECT_NE(a, d);
    EXPECT_EQ(*a, *d);
}

struct ring {
    std::string name;
    std::shared_ptr<ring> next;
    std::weak_ptr<ring> before;
};

TEST(wire_graph, cycles_stay_cycles) {
    auto const a = std::make_shared<ring>();
    auto const b = std::make_shared<ring>(ring{"b", a, a});
    *a = {"a", b, b};
    auto const got = travelled(a);
    EXPECT_EQ(got->name, "a");
    EXPECT_EQ(got->next->name, "b");
    EXPECT_EQ(got->next->next, got);
    EXPECT_EQ(got->before.lock(), got->next);
    auto const self = std::make_shared<ring>();
    self->next = self;
    auto const alone = travelled(self);
    EXPECT_EQ(alone->next, alone);
    expect_refused_when_cut_off(a); // and the cycle that has been read is no leak
    for (auto const& one : {a, got, self, alone}) one->next.reset();
}

TEST(wire_graph, what_is_watched_arrives_if_it_is_owned) {
    auto const owned = std::make_shared<std::string>("owned");
    auto const outside = std::make_shared<std::string>("outside");
    using pointers = std::tuple<std::weak_ptr<std::string>, std::shared_ptr<std::string>,
                                std::weak_ptr<std::string>, std::weak_ptr<std::string>,
                                std::weak_ptr<std::string>>;
    pointers const got =
        travelled(pointers{owned, owned, owned, outside, std::weak_ptr<std::string>()});
    EXPECT_EQ(*std::get<1>(got), "owned");
    EXPECT_EQ(std::get<0>(got).lock(), std::get<1>(got));
    EXPECT_EQ(std::get<2>(got).lock(), std::get<1>(got));
    EXPECT_TRUE(std::get<3>(got).expired());
    EXPECT_TRUE(std::get<4>(got).expired());
    // What leads on from an object that is only watched stays where it is.
    ring inner{"inner", std::make_shared<ring>(ring{std::string(1000, 'x'), nullptr, {}}), {}};
    inner.before = inner.next;
    auto const only = std::weak_ptr<ring>(inner.next);
    EXPECT_LT(graph_bytes_of(only).size(), 10U);
}

struct knows_itself : std::enable_shared_from_this<knows_itself> {
    std::string name;
    template <class Archive> void serialize(Archive& archive) { archive(name); }
};

TEST(wire_graph, an_object_may_know_who_shares_it) {
    auto const sent = std::make_shared<knows_itself>();
    sent->name = "itself";
    auto const got = travelled(sent);
    EXPECT_EQ(got->name, "itself");
    EXPECT_EQ(got->shared_from_this(), got);
}

// --- classes with virtual functions --------------------------------------------------------------

struct shape {
    shape() = default;
    shape(shape const&) = default;
    shape& operator=(shape const&) = default;
    virtual ~shape() = default;
    [[nodiscard]] virtual double area() const = 0;
};
struct coloured {
    std::string colour;
    virtual ~coloured() = default;
};
struct square : shape {
    double side = 0;
    [[nodiscard]] double area() const override { return side * side; }
    template <class Archive> void serialize(Archive& archive) { archive(side); }
};
struct disc final : coloured, shape { // so that its shape lies behind something else
    double radius = 0;
    [[nodiscard]] double area() const override { return 3 * radius * radius; }
    template <class Archive> void serialize(Archive& archive) { archive(radius, colour); }
};
struct unnamed_shape : shape {
    [[nodiscard]] double area() const override { return 0; }
};

} // namespace

template <> struct tulle::kinds_of<shape> : tulle::kinds<square, disc> {};

namespace {

TEST(wire_graph, objects_are_what_they_were) {
    std::vector<std::unique_ptr<shape>> sent;
    auto one = std::make_unique<disc>();
    one->radius = 2;
    one->colour = "red";
    sent.push_back(std::move(one));
    sent.push_back(std::make_unique<square>());
    dynamic_cast<square&>(*sent.back()).side = 3;
    sent.push_back(nullptr);
    auto const got = travelled(sent);
    ASSERT_EQ(got.size(), 3U);
    EXPECT_EQ(got[0]->area(), 12);
    EXPECT_EQ(dynamic_cast<disc&>(*got[0]).colour, "red");
    EXPECT_EQ(got[1]->area(), 9);
    EXPECT_EQ(got[2], nullptr);
    expect_refused_when_cut_off(sent);
}

TEST(wire_graph, pointers_to_a_base_class_share_the_object) {
    auto const one = std::make_shared<disc>();
    using pointers =
        std::tuple<std::shared_ptr<shape>, std::shared_ptr<disc>, std::weak_ptr<shape const>>;
    pointers const got = travelled(pointers{one, one, one});
    EXPECT_EQ(std::get<0>(got).get(), std::get<1>(got).get());
    EXPECT_EQ(std::get<2>(got).lock(), std::get<0>(got));
}

TEST(wire_graph, a_class_that_is_not_named_is_refused) {
    std::shared_ptr<shape> const sent = std::make_shared<unnamed_shape>();
    tulle::wire_writer out;
    try {
        out.put(sent);
        FAIL();
    } catch (std::invalid_argument const& e) {
        EXPECT_NE(std::string(e.what()).find("unnamed_shape"), std::string::npos) << e.what();
    }
}

// --- objects that are made with their parts ------------------------------------------------------

struct made_whole;
} // namespace

template <> struct tulle::wire<made_whole> {
    static void put(wire_writer& out, made_whole const& value);
    static made_whole get(wire_reader& in);
};

namespace {

struct made_whole {
    explicit made_whole(std::string n, std::shared_ptr<made_whole> o = nullptr)
        : name(std::move(n)), other(std::move(o)) {}
    std::string name;
    std::shared_ptr<made_whole> other;
};

} // namespace

void tulle::wire<made_whole>::put(wire_writer& out, made_whole const& value) {
    out.put(value.name);
    out.put(value.other);
}
made_whole tulle::wire<made_whole>::get(wire_reader& in) {
    auto name = in.get<std::string>();
    return made_whole(std::move(name), in.get<std::shared_ptr<made_whole>>());
}

namespace {

TEST(wire_graph, objects_without_a_default_constructor) {
    EXPECT_EQ(travelled(std::make_unique<made_whole>("one"))->name, "one");
    auto const inner = std::make_shared<made_whole>("inner");
    auto const outer = std::make_shared<made_whole>("outer", inner);
    std::pair<std::shared_ptr<made_whole>, std::shared_ptr<made_whole>> const sent{outer, inner};
    auto const got = travelled(sent);
    EXPECT_EQ(got.first->name, "outer");
    EXPECT_EQ(got.first->other, got.second);
    EXPECT_EQ(got.second->name, "inner");
    expect_refused_when_cut_off(sent);
}

TEST(wire_graph, a_cycle_of_them_is_refused) {
    auto const one = std::make_shared<made_whole>("one");
    one->other = one;
    tulle::wire_writer out;
    EXPECT_THROW(out.put(one), std::invalid_argument);
    one->other.reset();
}

// --- code of the program that sees what is read --------------------------------------------------

struct chained {
    int number = 0;
    std::unique_ptr<chained> next;
};
template <class T> std::unique_ptr<chained> in_chain(T value, std::unique_ptr<chained> next) {
    return std::make_unique<chained>(chained{value, std::move(next)});
}

struct looks_at_pointers {
    int number = 0;
    int sum = 0;
    std::unique_ptr<looks_at_pointers> next;
    template <class Archive> void serialize(Archive& archive) {
        auto of_this_call = in_chain(number, in_chain(number + 1, nullptr));
        archive(number, of_this_call, next);
        sum = of_this_call->number + of_this_call->next->number;
        of_this_call->next.reset();
    }
};

TEST(wire_graph, variables_of_serialize_are_complete_at_once) {
    auto sent = std::make_unique<looks_at_pointers>();
    sent->number = 1;
    sent->next = std::make_unique<looks_at_pointers>();
    sent->next->number = 20;
    auto const got = travelled(sent);
    EXPECT_EQ(got->sum, 3);
    EXPECT_EQ(got->next->sum, 41);
    expect_refused_when_cut_off(sent);
}

// Its copies have objects of their own, and moves are copies.
struct copies_itself {
    copies_itself() = default;
    explicit copies_itself(int number) : of(in_chain(number, in_chain(number, nullptr))) {}
    copies_itself(copies_itself const& other) : of(copy_of(other.of.get())) {}
    copies_itself& operator=(copies_itself const& other) {
        of = copy_of(other.of.get());
        return *this;
    }
    ~copies_itself() = default;
    static std::unique_ptr<chained> copy_of(chained const* one) {
        return one != nullptr ? in_chain(one->number, copy_of(one->next.get())) : nullptr;
    }
    std::unique_ptr<chained> of;
    template <class Archive> void serialize(Archive& archive) { archive(of); }
};

TEST(wire_graph, classes_that_copy_what_they_own) {
    auto sent = std::make_unique<std::vector<copies_itself>>();
    for (int k = 0; k < 5; ++k) sent->emplace_back(k);
    auto const got = travelled(sent);
    ASSERT_EQ(got->size(), 5U);
    for (int k = 0; k < 5; ++k) EXPECT_EQ((*got)[static_cast<std::size_t>(k)].of->next->number, k);
    expect_refused_when_cut_off(sent);
}

// Copies clone, but moves do not.
struct clones : copies_itself {
    using copies_itself::copies_itself;
    clones() = default;
    clones(clones const&) = default;
    clones& operator=(clones const&) = default;
    clones(clones&& other) noexcept : copies_itself() { of = std::move(other.of); }
    clones& operator=(clones&& other) noexcept {
        of = std::move(other.of);
        return *this;
    }
    ~clones() = default;
};

// A deque copies its elements when a vector grows, as its moves may throw.
TEST(wire_graph, containers_that_copy_their_elements) {
    using deques = std::vector<std::deque<clones>>;
    auto sent = std::make_unique<deques>();
    for (int k = 0; k < 9; ++k) sent->push_back(std::deque<clones>(3, clones(k)));
    auto const got = travelled(sent);
    ASSERT_EQ(got->size(), 9U);
    for (int k = 0; k < 9; ++k)
        EXPECT_EQ((*got)[static_cast<std::size_t>(k)].back().of->next->number, k);
    expect_refused_when_cut_off(sent);
}

struct read_by_hand {
    int sum = 0;
};

} // namespace

template <> struct tulle::wire<read_by_hand> {
    static void put(wire_writer& out, read_by_hand const& value) {
        out.put(in_chain(value.sum, in_chain(1, nullptr)));
    }
    static read_by_hand get(wire_reader& in) {
        auto const dropped = in.get<std::unique_ptr<chained>>();
        return {dropped->number + dropped->next->number};
    }
};

namespace {

TEST(wire_graph, specialisations_see_complete_objects_and_may_drop_them) {
    using two = std::tuple<read_by_hand, std::shared_ptr<std::vector<read_by_hand>>>;
    two const sent{{1}, std::make_shared<std::vector<read_by_hand>>(3)};
    two const got = travelled(sent);
    EXPECT_EQ(std::get<0>(got).sum, 2);
    for (auto const& one : *std::get<1>(got)) EXPECT_EQ(one.sum, 1);
    expect_refused_when_cut_off(sent);
}

struct by_content {
    bool operator()(std::unique_ptr<chained> const& a, std::unique_ptr<chained> const& b) const {
        return a->number < b->number;
    }
};
struct content_hash {
    std::size_t operator()(std::shared_ptr<std::string> const& one) const {
        return std::hash<std::string>{}(*one);
    }
};
struct content_equal {
    bool operator()(std::shared_ptr<std::string> const& a,
                    std::shared_ptr<std::string> const& b) const {
        return *a == *b;
    }
};

TEST(wire_graph, keys_are_complete_when_they_are_compared) {
    struct holder {
        std::set<std::unique_ptr<chained>, by_content> sorted;
        std::unordered_set<std::shared_ptr<std::string>, content_hash, content_equal> hashed;
        std::map<std::unique_ptr<chained>, std::unique_ptr<chained>, by_content> named;
    };
    auto sent = std::make_unique<holder>();
    for (int k = 0; k < 9; ++k) {
        sent->sorted.insert(in_chain(k * 5 % 9, in_chain(k, nullptr)));
        sent->hashed.insert(std::make_shared<std::string>(static_cast<std::size_t>(k), 'x'));
        sent->named.emplace(in_chain(k, nullptr), in_chain(-k, nullptr));
    }
    auto const got = travelled(sent);
    ASSERT_EQ(got->sorted.size(), 9U);
    EXPECT_EQ((*got->sorted.begin())->number, 0);
    EXPECT_EQ((*got->sorted.begin())->next->number, 0);
    EXPECT_EQ(got->hashed.size(), 9U);
    EXPECT_TRUE(got->hashed.contains(std::make_shared<std::string>("xxx")));
    EXPECT_EQ(got->named.find(in_chain(4, nullptr))->second->number, -4);
    expect_refused_when_cut_off(sent);
}

TEST(wire_graph, a_key_that_comes_twice_is_refused) {
    // What is owned by the second one could not be filled any more.
    using map = std::map<int, std::unique_ptr<chained>>;
    hostile_bytes twice;
    twice.says(mention::at_once)(std::uint64_t{2});
    for (int k = 0; k < 2; ++k) twice(7).says(mention::later);
    for (int k = 0; k < 2; ++k) twice(1).says(mention::nothing);
    twice.expect_refused<std::unique_ptr<map>>();
    hostile_bytes()(std::uint64_t{2})(1)(1).expect_refused<std::set<int>>();
}

// --- bytes that nothing writes -------------------------------------------------------------------

using shared_ring = std::shared_ptr<ring>;

TEST(wire_graph, mentions_that_nothing_writes) {
    hostile_bytes()(std::uint8_t{7}).expect_refused<shared_ring>();
    hostile_bytes()(std::uint8_t{255}).expect_refused<std::unique_ptr<int>>();
    hostile_bytes().says(mention::later)(5).expect_refused<std::unique_ptr<int>>();
    hostile_bytes().says(mention::later)(5).expect_refused<std::shared_ptr<int>>();
    for (mention const how :
         {mention::only_named, mention::known, mention::known_later, mention::known_at_once})
        hostile_bytes().says(how)(std::uint64_t{0})(5).expect_refused<std::unique_ptr<int>>();
    hostile_bytes().says(mention::only_named)(5).expect_refused<std::shared_ptr<int>>();
    hostile_bytes().says(mention::at_once)(5).expect_refused<std::weak_ptr<int>>();
}

TEST(wire_graph, numbers_of_objects_that_are_not_there) {
    for (std::uint64_t const number :
         {std::uint64_t{0}, std::uint64_t{1}, std::numeric_limits<std::uint64_t>::max()}) {
        hostile_bytes().says(mention::known)(number).expect_refused<shared_ring>();
        hostile_bytes().says(mention::known_at_once)(number).expect_refused<shared_ring>();
        hostile_bytes().says(mention::known)(number).expect_refused<std::weak_ptr<ring>>();
    }
    // While it is being read.
    hostile_bytes()
        .says(mention::at_once)(std::string("outer"))
        .says(mention::known)(std::uint64_t{0})
        .expect_refused<std::shared_ptr<made_whole>>();
}

TEST(wire_graph, objects_of_another_class_and_objects_twice) {
    using different = std::pair<std::shared_ptr<std::string>, std::shared_ptr<std::vector<int>>>;
    hostile_bytes()
        .says(mention::at_once)(std::string("text"))
        .says(mention::known)(std::uint64_t{0})
        .expect_refused<different>();
    using same = std::pair<std::shared_ptr<std::string>, std::shared_ptr<std::string>>;
    hostile_bytes()
        .says(mention::at_once)(std::string("text"))
        .says(mention::known_at_once)(std::uint64_t{0})(std::string("again"))
        .expect_refused<same>();
    for (std::uint16_t const kind : {std::uint16_t{2}, std::uint16_t{65535}})
        hostile_bytes().says(mention::at_once)(kind).expect_refused<std::shared_ptr<shape>>();
}

struct takes_no_bytes {};
struct writes_no_bytes {
    template <class Archive> void serialize(Archive& /*archive*/) {}
};

TEST(wire_graph, counts_of_elements_without_bytes_are_bounded) {
    EXPECT_EQ(travelled(std::vector<takes_no_bytes>(1000)).size(), 1000U);
    EXPECT_EQ(travelled(std::vector<writes_no_bytes>(1000)).size(), 1000U);
    EXPECT_EQ((travelled(std::vector<std::pair<writes_no_bytes, char>>(9)).size()), 9U);
    EXPECT_EQ((travelled(std::map<char, writes_no_bytes>{{'a', {}}, {'b', {}}}).size()), 2U);
    for (std::uint64_t const count :
         {std::uint64_t{9}, std::uint64_t{1} << 60U, std::numeric_limits<std::uint64_t>::max()}) {
        hostile_bytes()(count)(std::uint64_t{0}).expect_refused<std::vector<takes_no_bytes>>();
        hostile_bytes()(count)(std::uint64_t{0}).expect_refused<std::list<writes_no_bytes>>();
        hostile_bytes()(count)(std::uint64_t{0}).expect_refused<std::vector<std::tuple<>>>();
    }
}

TEST(wire_graph, a_bool_is_one_whatever_its_byte) {
    for (int byte = 0; byte < 256; ++byte) {
        std::byte const bytes[]{static_cast<std::byte>(byte)};
        tulle::wire_reader in(bytes);
        bool const value = in.get<bool>();
        EXPECT_EQ(value ? 1 : 0, byte != 0 ? 1 : 0);
    }
}

// --- depth ---------------------------------------------------------------------------------------

constexpr int k_long =
    tulle::base::k_address_sanitizer || tulle::base::k_thread_sanitizer ? 100'000 : 1'000'000;

// Ends without calling itself for each node.
struct list_node {
    int number = 0;
    std::unique_ptr<list_node> next;
    ~list_node() {
        while (next != nullptr) next = std::move(next->next);
    }
};
struct shared_node {
    int number = 0;
    std::shared_ptr<shared_node> next;
    std::weak_ptr<shared_node> before;
    ~shared_node() {
        while (next != nullptr && next.use_count() == 1) next = std::exchange(next->next, nullptr);
    }
};
// Calls itself for each node.
struct careless_node {
    std::unique_ptr<careless_node> next;
    template <class Archive> void serialize(Archive& archive) { archive(next); }
};

class wire_on_small_stack : public on_small_stack {};

TEST_F(wire_on_small_stack, a_list_of_a_million_nodes) {
    run([] {
        std::unique_ptr<list_node> first;
        for (int k = k_long; k != 0; --k) {
            auto node = std::make_unique<list_node>();
            node->number = k;
            node->next = std::move(first);
            first = std::move(node);
        }
        std::unique_ptr<list_node> const got = travelled(first);
        int count = 0;
        for (auto const* at = got.get(); at != nullptr; at = at->next.get())
            if (at->number != ++count) break;
        EXPECT_EQ(count, k_long);
    });
}

TEST_F(wire_on_small_stack, a_list_of_a_million_shared_nodes_both_ways) {
    run([] {
        std::shared_ptr<shared_node> first;
        for (int k = k_long; k != 0; --k) {
            auto node = std::make_shared<shared_node>();
            node->number = k;
            if (first != nullptr) first->before = node;
            node->next = std::move(first);
            first = std::move(node);
        }
        std::shared_ptr<shared_node> const got = travelled(first);
        int count = 0;
        std::shared_ptr<shared_node> before;
        for (auto at = got; at != nullptr; before = at, at = at->next)
            if (at->number != ++count || at->before.lock() != before) break;
        EXPECT_EQ(count, k_long);
    });
}

// Nodes that have been read are not left to destructors which call themselves.
TEST_F(wire_on_small_stack, a_long_list_that_is_cut_off) {
    run([] {
        std::vector<std::byte> const bytes(k_long, static_cast<std::byte>(mention::later));
        graph_bytes first = bytes;
        first[0] = static_cast<std::byte>(mention::at_once);
        tulle::wire_reader in(first);
        EXPECT_THROW(static_cast<void>(in.get<std::unique_ptr<careless_node>>()),
                     tulle::wire_error);
        // Among others that are complete.
        tulle::wire_writer out;
        out.put(std::uint64_t{2});
        out.put_bytes(first.data(), first.size());
        out.put(mention::nothing);
        tulle::wire_reader two({out.data(), out.size()});
        EXPECT_THROW(static_cast<void>(two.get<std::vector<std::unique_ptr<careless_node>>>()),
                     tulle::wire_error);
    });
}

struct nested_vectors {
    std::vector<nested_vectors> inner;
};

graph_bytes deep_bytes(std::size_t depth) {
    tulle::wire_writer out;
    for (std::size_t k = 0; k < depth; ++k) out.put(std::uint64_t{1});
    out.put(std::uint64_t{0});
    return {out.data(), out.data() + out.size()};
}
std::size_t depth_of(nested_vectors const& outer) {
    std::size_t depth = 0;
    for (auto const* at = &outer; !at->inner.empty(); at = &at->inner.front()) ++depth;
    return depth;
}

TEST_F(wire_on_small_stack, values_that_contain_each_other_are_refused_when_they_are_too_deep) {
    run([] {
        for (std::size_t const depth : {2000U, 100'000U}) {
            graph_bytes const bytes = deep_bytes(depth);
            tulle::wire_reader in(bytes);
            EXPECT_THROW(static_cast<void>(in.get<nested_vectors>()), tulle::wire_error) << depth;
        }
        EXPECT_EQ(depth_of(graph_of<nested_vectors>(deep_bytes(5))), 5U);
    });
}

TEST_F(wire_on_small_stack, values_that_are_too_deep_are_not_written) {
    nested_vectors const deep = graph_of<nested_vectors>(deep_bytes(500)); // on a large stack
    run([&deep] {
        tulle::wire_writer out;
        EXPECT_THROW(out.put(deep), std::invalid_argument);
    });
    EXPECT_EQ(depth_of(travelled(deep)), 500U);
}

TEST_F(wire_on_small_stack, objects_that_are_made_with_their_parts_are_refused_when_too_deep) {
    run([] {
        hostile_bytes deep;
        for (int k = 0; k < 100'000; ++k) deep.says(mention::at_once)(std::string());
        deep.says(mention::nothing);
        deep.expect_refused<std::shared_ptr<made_whole>>();
        // Such as follow at once although they could later.
        hostile_bytes at_once;
        for (int k = 0; k < 100'000; ++k) at_once.says(mention::at_once);
        at_once.says(mention::nothing);
        at_once.expect_refused<std::unique_ptr<careless_node>>();
    });
}

TEST(wire_graph, values_are_refused_when_they_are_too_deep_for_an_os_thread) {
    if (tulle::base::k_thread_sanitizer)
        GTEST_SKIP() << "the sanitizer has room for 65,536 calls in each other only";
    graph_bytes const bytes = deep_bytes(1'000'000);
    tulle::wire_reader in(bytes);
    EXPECT_THROW(static_cast<void>(in.get<nested_vectors>()), tulle::wire_error);
}

} // namespace

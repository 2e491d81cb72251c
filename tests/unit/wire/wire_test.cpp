// SPDX-License-Identifier: Apache-2.0
// What travels between places comes out as it went in; what is cut off, or names more than it has,
// is refused.
#include <tulle/place.hpp>
#include <tulle/wire.hpp>

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

namespace tulle {

namespace {

enum class wired_colour : std::uint8_t { red, green };

struct wired_aggregate {
    int number = 7;
    double weight = 0.5;
    wired_colour colour = wired_colour::green;
    friend bool operator==(wired_aggregate const&, wired_aggregate const&) = default;
};

struct wired_without_default {
    explicit wired_without_default(int n) : value(n) {}
    int value;
    friend bool operator==(wired_without_default const&, wired_without_default const&) = default;
};

struct wired_constant {
    int const value = 3;
    friend bool operator==(wired_constant const&, wired_constant const&) = default;
};

struct wired_nothing {
    friend auto operator<=>(wired_nothing const&, wired_nothing const&) = default;
};

struct wired_parts {
    std::string name;
    std::vector<wired_aggregate> all;
    std::map<int, std::string> notes;
    template <class Archive> void serialize(Archive& archive) { archive(name, all, notes); }
    friend bool operator==(wired_parts const&, wired_parts const&) = default;
};

struct wired_nested_parts {
    wired_parts first;
    std::optional<std::string> second;
    template <class Archive> void serialize(Archive& archive) {
        archive(first);
        archive(second);
    }
    friend bool operator==(wired_nested_parts const&, wired_nested_parts const&) = default;
};

// Could be copied byte by byte, but says that not all of it travels.
struct wired_partly {
    int value = 0;
    int cached = -1;
    template <class Archive> void serialize(Archive& archive) { archive(value); }
    friend bool operator==(wired_partly const& a, wired_partly const& b) {
        return a.value == b.value && b.cached == -1;
    }
};

// The same, with a way of its own.
struct wired_specially {
    int value;
    friend bool operator==(wired_specially const&, wired_specially const&) = default;
};

} // namespace

template <> struct wire<wired_specially> {
    static void put(wire_writer& to, wired_specially const& s) { to.put(std::to_string(s.value)); }
    static wired_specially get(wire_reader& from) { return {std::stoi(from.get<std::string>())}; }
};

namespace {

using wired_bytes = std::vector<std::byte>;

template <class T> wired_bytes bytes_of(T const& value) {
    wire_writer out;
    out.put(value);
    return {out.data(), out.data() + out.size()};
}

// From a block of memory of just that size, so that a sanitizer sees who reads more.
template <class T> T value_of(wired_bytes const& bytes, std::size_t count) {
    wired_bytes const exact(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count));
    wire_reader in(exact);
    T value = in.get<T>();
    EXPECT_EQ(in.left(), 0U);
    return value;
}

template <class T> void expect_round_trip(T const& value) {
    wired_bytes const bytes = bytes_of(value);
    EXPECT_TRUE(value == value_of<T>(bytes, bytes.size()));
    for (std::size_t cut = 0; cut < bytes.size(); ++cut)
        EXPECT_THROW(static_cast<void>(value_of<T>(bytes, cut)), wire_error)
            << cut << " of " << bytes.size() << " bytes";
}

TEST(wire, numbers_and_aggregates) {
    expect_round_trip(42);
    expect_round_trip('x');
    expect_round_trip(true);
    expect_round_trip(-0.125);
    expect_round_trip(std::numeric_limits<std::uint64_t>::max());
    expect_round_trip(wired_colour::green);
    expect_round_trip(wired_aggregate{});
    expect_round_trip(wired_without_default(5));
    expect_round_trip(wired_constant{});
    expect_round_trip(wired_nothing{});
    expect_round_trip(std::complex<double>(1, -2));
    expect_round_trip(std::chrono::nanoseconds(17));
    expect_round_trip(std::array{1, 2, 3});
    expect_round_trip(std::array<int, 0>{});
    expect_round_trip(std::variant<int, double>(2.5));
}

TEST(wire, strings) {
    using namespace std::string_literals;
    expect_round_trip(""s);
    expect_round_trip("text"s);
    expect_round_trip("with \0 and \0\0"s);
    expect_round_trip("\xff\x80"s);
    expect_round_trip(std::string(500, 'x'));
    expect_round_trip(L"wide"s);
    expect_round_trip(U"\U0001F9F5"s);
}

TEST(wire, sequences) {
    expect_round_trip(std::vector<int>{});
    expect_round_trip(std::vector{1, 2, 3});
    expect_round_trip(std::vector<double>(200, 0.5));
    expect_round_trip(std::vector<bool>{});
    expect_round_trip(std::vector<bool>{true, false, true, true, false, false, true, false, true});
    expect_round_trip(std::vector<std::string>{"", "a", "", "bc"});
    expect_round_trip(std::vector<std::vector<std::vector<int>>>{{}, {{}}, {{1}, {2, 3}, {}}});
    expect_round_trip(
        std::vector<wired_without_default>{wired_without_default(1), wired_without_default(2)});
    expect_round_trip(std::vector<wired_constant>(3));
    expect_round_trip(std::array<std::string, 3>{"one", "", "three"});
    expect_round_trip(std::array<std::array<std::string, 2>, 2>{{{"a", "b"}, {"c", "d"}}});
}

TEST(wire, sets_and_maps) {
    expect_round_trip(std::set<int>{});
    expect_round_trip(std::set<std::string>{"b", "a", ""});
    expect_round_trip(std::multiset<int>{1, 1, 2});
    expect_round_trip(std::unordered_set<std::string>{"x", "y"});
    expect_round_trip(std::unordered_multiset<int>{4, 4, 5});
    expect_round_trip(std::map<std::string, int>{});
    expect_round_trip(std::map<std::string, std::vector<int>>{{"none", {}}, {"two", {1, 2}}});
    expect_round_trip(std::multimap<int, std::string>{{1, "a"}, {1, "b"}, {2, ""}});
    expect_round_trip(
        std::unordered_map<int, std::map<int, std::set<int>>>{{1, {{2, {3}}}}, {4, {}}});
    expect_round_trip(std::unordered_multimap<int, int>{{1, 2}, {1, 3}});
}

TEST(wire, pairs_tuples_and_optionals) {
    expect_round_trip(std::pair<int, std::string>(1, "one"));
    expect_round_trip(std::pair<wired_without_default, wired_without_default>(1, 2));
    expect_round_trip(std::tuple<>());
    expect_round_trip(std::tuple<int>(1));
    expect_round_trip(std::tuple<std::string, int, std::vector<std::string>>("a", 2, {"b", "c"}));
    expect_round_trip(std::optional<int>());
    expect_round_trip(std::optional<int>(3));
    expect_round_trip(std::optional<std::string>());
    expect_round_trip(std::optional<std::string>(""));
    expect_round_trip(std::optional<std::optional<std::string>>(std::optional<std::string>()));
    expect_round_trip(std::optional<std::vector<std::pair<std::string, std::optional<int>>>>(
        {{"a", 1}, {"b", std::nullopt}}));
}

TEST(wire, types_that_name_their_parts) {
    wired_parts const parts{"name", {{}, {1, 2.0, wired_colour::red}}, {{3, "three"}}};
    expect_round_trip(wired_parts{});
    expect_round_trip(parts);
    expect_round_trip(wired_nested_parts{parts, "second"});
    expect_round_trip(
        std::map<std::string, wired_nested_parts>{{"a", {parts, std::nullopt}}, {"b", {}}});
}

TEST(wire, elements_travel_as_they_do_alone) {
    expect_round_trip(wired_partly{1, 2});
    expect_round_trip(std::vector<wired_partly>{{1, 2}, {3, 4}});
    expect_round_trip(std::array<wired_partly, 2>{{{1, 2}, {3, 4}}});
    expect_round_trip(std::optional(wired_partly{1, 2}));
    expect_round_trip(wired_specially{12});
    EXPECT_EQ(bytes_of(wired_specially{12}), bytes_of(std::string("12")));
    std::array<wired_specially, 2> const two{{{1}, {23}}};
    std::array<std::string, 2> const as_texts{"1", "23"};
    expect_round_trip(two);
    EXPECT_EQ(bytes_of(two), bytes_of(as_texts));
    EXPECT_EQ(bytes_of(std::vector<wired_specially>{{1}, {23}}),
              bytes_of(std::vector<std::string>{"1", "23"}));
    EXPECT_EQ(bytes_of(std::optional(wired_specially{1})),
              bytes_of(std::optional<std::string>("1")));
}

TEST(wire, elements_that_take_no_bytes) {
    expect_round_trip(std::vector<wired_nothing>(5));
    expect_round_trip(std::set<wired_nothing>{{}});
    expect_round_trip(std::vector<std::pair<wired_nothing, wired_nothing>>(3));
    expect_round_trip(std::vector<std::tuple<>>(4));
    expect_round_trip(std::map<wired_nothing, std::tuple<wired_nothing>>{{}});
}

TEST(wire, messages_grow_out_of_their_first_bytes) {
    for (std::size_t first = 0; first < 130; ++first) {
        wire_writer out;
        std::string const text(first, 'f');
        out.put_bytes(text.data(), text.size());
        for (int k = 0; k < 40; ++k) out.put(k);
        wire_reader in({out.data(), out.size()});
        EXPECT_EQ(std::string(reinterpret_cast<char const*>(in.get_bytes(first)), first), text);
        for (int k = 0; k < 40; ++k) EXPECT_EQ(in.get<int>(), k);
        EXPECT_EQ(in.left(), 0U);
    }
}

TEST(wire, a_view_shows_the_message_aligned) {
    std::vector<double> const numbers{1, 2, 3};
    std::array<std::uint16_t, 2> const shorts{4, 5};
    wire_writer out;
    out.put('a');
    out.put(view(numbers));
    out.put('b');
    out.put(view(shorts));
    out.put(view<double>());
    out.put('c');
    wire_reader in({out.data(), out.size()});
    EXPECT_EQ(in.get<char>(), 'a');
    auto const seen = in.get<view<double>>();
    EXPECT_EQ(std::vector<double>(seen.begin(), seen.end()), numbers);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(seen.data()) % alignof(double), 0U);
    EXPECT_GE(reinterpret_cast<std::byte const*>(seen.data()), out.data());
    EXPECT_LT(reinterpret_cast<std::byte const*>(seen.data()), out.data() + out.size());
    EXPECT_EQ(in.get<char>(), 'b');
    auto const two = in.get<view<std::uint16_t>>();
    EXPECT_EQ(std::vector<std::uint16_t>(two.begin(), two.end()),
              (std::vector<std::uint16_t>{4, 5}));
    EXPECT_TRUE(in.get<view<double>>().empty());
    EXPECT_EQ(in.get<char>(), 'c');
    EXPECT_EQ(in.left(), 0U);
}

TEST(wire, a_view_that_is_cut_off_is_refused) {
    std::vector<std::uint32_t> const numbers(10);
    wire_writer out;
    out.put('a');
    out.put(view(numbers));
    for (std::size_t size = 1; size < out.size(); ++size) {
        wire_reader in({out.data(), size});
        EXPECT_EQ(in.get<char>(), 'a');
        EXPECT_THROW(static_cast<void>(in.get<view<std::uint32_t>>()), wire_error) << size;
    }
}

template <class T> void expect_no_such_count(std::uint64_t count) {
    wire_writer out;
    out.put(count);
    out.put(std::uint64_t{1}); // some bytes of the first element
    wire_reader in({out.data(), out.size()});
    EXPECT_THROW(static_cast<void>(in.get<T>()), wire_error) << count;
}

// Memory for so many would end in std::bad_alloc or std::length_error, or in the end of the
// process.
TEST(wire, a_count_that_cannot_be_true_is_refused_before_memory_is_asked_for) {
    for (std::uint64_t const count :
         {std::uint64_t{9}, std::uint64_t{1} << 40U, std::uint64_t{1} << 61U,
          (std::uint64_t{1} << 62U) + 1, std::numeric_limits<std::uint64_t>::max()}) {
        expect_no_such_count<std::string>(count);
        expect_no_such_count<std::u32string>(count);
        expect_no_such_count<std::vector<char>>(count);
        expect_no_such_count<std::vector<std::uint64_t>>(count);
        expect_no_such_count<std::vector<bool>>(count);
        expect_no_such_count<view<std::uint64_t>>(count);
        expect_no_such_count<std::vector<std::string>>(count);
        expect_no_such_count<std::vector<wired_without_default>>(count);
        expect_no_such_count<std::set<int>>(count);
        expect_no_such_count<std::map<int, int>>(count);
        expect_no_such_count<std::unordered_map<std::string, int>>(count);
    }
}

TEST(wire, several_values_in_one_message) {
    wire_writer out;
    out.put(std::string("first"));
    out.put(2);
    out.put(std::vector<std::string>{"third"});
    wire_reader in({out.data(), out.size()});
    EXPECT_EQ(in.get<std::string>(), "first");
    EXPECT_EQ(in.get<int>(), 2);
    EXPECT_EQ(in.get<std::vector<std::string>>(), std::vector<std::string>{"third"});
    EXPECT_THROW(static_cast<void>(in.get<char>()), wire_error);
}

} // namespace
} // namespace tulle

// SPDX-License-Identifier: Apache-2.0
// qarray, all pairs, wavefront.
#include <qthread/allpairs.h>
#include <qthread/qarray.h>
#include <qthread/qthread.h>
#include <qthread/wavefront.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace {

using array = std::unique_ptr<qarray, void (*)(qarray*)>;

constexpr distribution_t k_distributions[] = {FIXED_HASH,   FIXED_FIELDS, ALL_SAME,  DIST,
                                              DIST_STRIPES, DIST_FIELDS,  DIST_RAND, DIST_LEAST,
                                              ALL_LOCAL,    ALL_RAND,     ALL_LEAST};

class arrays : public testing::Test {
protected:
    void SetUp() override { ASSERT_EQ(qthread_initialize(), QTHREAD_SUCCESS); }
    static array make(std::size_t count, std::size_t unit, distribution_t d = FIXED_HASH,
                      bool tight = false, int pages = 1) {
        array a{qarray_create_configured(count, unit, d, tight ? 1 : 0, pages), qarray_destroy};
        EXPECT_NE(a, nullptr);
        return a;
    }
};

TEST_F(arrays, units_are_apart_and_zero) {
    for (auto const& [unit, tight, stride] :
         std::vector<std::tuple<std::size_t, bool, std::size_t>>{
             {8, false, 8}, {41, false, 48}, {41, true, 41}, {1000, false, 1000}}) {
        auto const a = make(500, unit, FIXED_HASH, tight);
        EXPECT_EQ(a->unit_size, stride);
        EXPECT_EQ(a->count, 500U);
        EXPECT_GE(a->segment_bytes, a->segment_size * stride);
        std::vector<char> const zeros(unit);
        for (std::size_t i = 0; i != 500; ++i) {
            void* const p = qarray_elem(a.get(), i);
            EXPECT_EQ(std::memcmp(p, zeros.data(), unit), 0);
            std::memset(p, static_cast<int>(i), unit);
        }
        for (std::size_t i = 0; i != 500; ++i)
            EXPECT_EQ(static_cast<char*>(qarray_elem_nomigrate(a.get(), i))[unit - 1],
                      static_cast<char>(i));
    }
}

TEST_F(arrays, what_makes_no_sense) {
    EXPECT_EQ(qarray_create(0, 8), nullptr);
    EXPECT_EQ(qarray_create(8, 0), nullptr);
    EXPECT_EQ(qarray_create(~std::size_t{0}, 8), nullptr);
    EXPECT_EQ(qarray_create(8, ~std::size_t{0}), nullptr);
    EXPECT_EQ(qarray_create_configured(10, 10000, FIXED_HASH, 0, 1), nullptr)
        << "a unit is larger than a segment";
    qarray_destroy(nullptr);
    EXPECT_EQ(qarray_elem_nomigrate(nullptr, 0), nullptr);
    EXPECT_EQ(qarray_elem_migrate(nullptr, 0), nullptr);
    EXPECT_EQ(qarray_shepof(nullptr, 0), NO_SHEPHERD);
    array const a{qarray_create_tight(10, 100000), qarray_destroy};
    EXPECT_EQ(a->segment_size, 1U);
    EXPECT_EQ(qarray_elem_nomigrate(a.get(), 10), nullptr);
    EXPECT_EQ(qarray_shepof(a.get(), 10), NO_SHEPHERD);
}

TEST_F(arrays, kinds_of_distribution) {
    qthread_shepherd_id_t const shepherds = qthread_num_shepherds();
    for (distribution_t const d : k_distributions) {
        auto const a = make(20000, 8, d);
        std::vector<std::size_t> units(shepherds);
        for (std::size_t i = 0; i != a->count; ++i) {
            ASSERT_LT(qarray_shepof(a.get(), i), shepherds);
            ++units[qarray_shepof(a.get(), i)];
            if (i % a->segment_size == 0) continue;
            ASSERT_EQ(qarray_shepof(a.get(), i), qarray_shepof(a.get(), i - 1));
        }
        if (d == FIXED_HASH || d == FIXED_FIELDS || d == DIST_STRIPES || d == DIST_FIELDS ||
            d == DIST_LEAST) {
            auto const [least, most] = std::minmax_element(units.begin(), units.end());
            // One more, and the last segment of all may be short.
            EXPECT_LT(*most - *least, 2 * a->segment_size) << d;
        }
        EXPECT_EQ(a->dist_type == ALL_SAME,
                  *std::max_element(units.begin(), units.end()) == a->count &&
                      a->dist_type == ALL_SAME);
    }
    EXPECT_EQ(make(10, 8, ALL_LOCAL)->dist_specific.dist_shep,
              qthread_shep() == NO_SHEPHERD ? 0 : qthread_shep());
}

TEST_F(arrays, segments_change_hands) {
    qthread_shepherd_id_t const last =
        static_cast<qthread_shepherd_id_t>(qthread_num_shepherds() - 1);
    auto const each = make(2000, 8, DIST_STRIPES);
    qarray_set_shepof(each.get(), each->segment_size, last);
    EXPECT_EQ(qarray_shepof(each.get(), each->segment_size), last);
    EXPECT_EQ(qarray_shepof(each.get(), 0), 0);
    auto const all = make(2000, 8, ALL_LOCAL);
    qarray_set_shepof(all.get(), 0, last);
    EXPECT_EQ(qarray_shepof(all.get(), 1999), last);
    auto const fixed = make(2000, 8, FIXED_HASH);
    qarray_set_shepof(fixed.get(), 0, last);
    EXPECT_EQ(qarray_shepof(fixed.get(), 0), 0);
    qarray_set_shepof(each.get(), 0, NO_SHEPHERD);
    qarray_set_shepof(each.get(), 2000, 0);
    qarray_set_shepof(nullptr, 0, 0);
    EXPECT_EQ(qarray_shepof(each.get(), 0), 0);
}

TEST_F(arrays, distributed_like_another) {
    auto const ref = make(5000, 8, DIST_RAND);
    auto const mod = make(5000, 8, DIST_STRIPES);
    qarray_dist_like(ref.get(), mod.get());
    for (std::size_t i = 0; i != ref->count; ++i)
        ASSERT_EQ(qarray_shepof(ref.get(), i), qarray_shepof(mod.get(), i));
    auto const all = make(5000, 8, ALL_RAND);
    qarray_dist_like(all.get(), mod.get());
    for (std::size_t i = 0; i != ref->count; ++i)
        ASSERT_EQ(qarray_shepof(all.get(), i), qarray_shepof(mod.get(), i));
    qarray_dist_like(nullptr, mod.get());
}

aligned_t add_one(void* unit) { return ++*static_cast<std::uint64_t*>(unit), 0; }

struct loop_state {
    std::atomic<std::size_t> units{0};
    std::atomic<int> elsewhere{0};
    int value = 0;
};
void note_place(qarray const* a, std::size_t from, std::size_t to, loop_state& s) {
    for (std::size_t i = from; i != to; ++i)
        if (qarray_shepof(a, i) != qthread_shep()) ++s.elsewhere;
    s.units += to - from;
}
void add_value(std::size_t const from, std::size_t const to, qarray* a, void* arg) {
    auto& s = *static_cast<loop_state*>(arg);
    note_place(a, from, to, s);
    auto* unit = static_cast<std::uint64_t*>(qarray_elem_nomigrate(a, from));
    for (std::size_t i = from; i != to; ++i) *unit++ += static_cast<std::uint64_t>(s.value);
}
void only_look(std::size_t const from, std::size_t const to, qarray const* a, void* arg) {
    note_place(a, from, to, *static_cast<loop_state*>(arg));
}

bool all_are(qarray const* a, std::size_t from, std::size_t to, std::uint64_t value) {
    for (std::size_t i = 0; i != a->count; ++i) {
        std::uint64_t const expected = i >= from && i < to ? value : 0;
        if (*static_cast<std::uint64_t*>(qarray_elem_nomigrate(a, i)) != expected) return false;
    }
    return true;
}

TEST_F(arrays, loops_visit_each_unit_once_where_it_belongs) {
    for (distribution_t const d : k_distributions) {
        for (auto const& [from, to] :
             {std::pair<std::size_t, std::size_t>{0, 5000}, {700, 4001}, {600, 601}, {5, 5}}) {
            auto const a = make(5000, 8, d);
            qarray_iter(a.get(), from, to, add_one);
            EXPECT_TRUE(all_are(a.get(), from, to, 1)) << d;
            loop_state s;
            s.value = 10;
            qarray_iter_loop(a.get(), from, to, add_value, &s);
            EXPECT_TRUE(all_are(a.get(), from, to, 11)) << d;
            qarray_iter_constloop(a.get(), from, to, only_look, &s);
            EXPECT_EQ(s.units, 2 * (to - from));
            EXPECT_EQ(s.elsewhere, 0);
            aligned_t end = 0;
            qarray_iter_loop_nb(a.get(), from, to, add_value, &s, &end);
            qthread_readFF(nullptr, &end);
            EXPECT_TRUE(all_are(a.get(), from, to, 21)) << d;
        }
    }
}

void add_one_and_disable(std::size_t const from, std::size_t const to, qarray* a, void* last) {
    qthread_disable_shepherd(*static_cast<qthread_shepherd_id_t*>(last));
    auto* unit = static_cast<std::uint64_t*>(qarray_elem_nomigrate(a, from));
    for (std::size_t i = from; i != to; ++i) ++*unit++;
}

TEST(arrays_without_a_shepherd, loops_visit_each_unit_once) {
    qthread_finalize(); // what another test has left
    ASSERT_EQ(qthread_init(3), QTHREAD_SUCCESS);
    for (distribution_t const d : {FIXED_HASH, FIXED_FIELDS, DIST_STRIPES}) {
        array const a{qarray_create_configured(5000, 8, d, 0, 1), qarray_destroy};
        qthread_shepherd_id_t last = 2;
        qarray_iter_loop(a.get(), 0, 5000, add_one_and_disable, &last);
        qthread_enable_shepherd(last);
        for (std::size_t i = 0; i != 5000; ++i)
            ASSERT_EQ(*static_cast<std::uint64_t*>(qarray_elem_nomigrate(a.get(), i)), 1U);
    }
    qthread_finalize();
}

// Segments have owners among all shepherds, but those that are chosen are enabled.
TEST(arrays_beside_a_disabled_shepherd, owners) {
    qthread_finalize(); // what another test has left
    ASSERT_EQ(qthread_init(3), QTHREAD_SUCCESS);
    ASSERT_EQ(qthread_disable_shepherd(1), QTHREAD_SUCCESS);
    array const a{qarray_create_configured(50000, 8, DIST, 0, 1), qarray_destroy};
    qarray_set_shepof(a.get(), 0, 2);
    EXPECT_EQ(qarray_shepof(a.get(), 0), 2);
    qarray_set_shepof(a.get(), 0, 3);
    EXPECT_EQ(qarray_shepof(a.get(), 0), 2);
    for (distribution_t const d : {DIST_RAND, DIST_LEAST, DIST_STRIPES, FIXED_HASH}) {
        array const spread{qarray_create_configured(50000, 8, d, 0, 1), qarray_destroy};
        std::array<int, 3> owned{};
        for (std::size_t k = 0; k < 50000; k += spread->segment_size) {
            qthread_shepherd_id_t const owner = qarray_shepof(spread.get(), k);
            ASSERT_LT(owner, 3);
            ++owned[owner];
        }
        EXPECT_GT(owned[0], 0) << d;
        EXPECT_GT(owned[2], 0) << d;
        if (d == DIST_RAND || d == DIST_LEAST) {
            EXPECT_EQ(owned[1], 0) << d;
        }
    }
    qthread_finalize();
}

TEST_F(arrays, loops_end_with_the_array) {
    auto const a = make(100, 8);
    qarray_iter(a.get(), 50, 1000, add_one);
    EXPECT_TRUE(all_are(a.get(), 50, 100, 1));
    qarray_iter(a.get(), 1000, 2000, add_one);
    qarray_iter(nullptr, 0, 1, add_one);
    qarray_iter(a.get(), 0, 1, nullptr);
    EXPECT_TRUE(all_are(a.get(), 50, 100, 1));
}

void sum_units(std::size_t const from, std::size_t const to, qarray* a, void*, void* ret) {
    std::uint64_t sum = 0;
    for (std::size_t i = from; i != to; ++i)
        sum += *static_cast<std::uint64_t*>(qarray_elem_nomigrate(a, i));
    *static_cast<std::uint64_t*>(ret) = sum;
}

TEST_F(arrays, loops_accumulate) {
    for (distribution_t const d : k_distributions) {
        auto const a = make(5000, 8, d);
        for (std::size_t i = 0; i != a->count; ++i)
            *static_cast<std::uint64_t*>(qarray_elem_nomigrate(a.get(), i)) = i;
        std::uint64_t sum = 12345; // replaced
        qarray_iter_loopaccum(a.get(), 0, 5000, sum_units, nullptr, &sum, sizeof sum,
                              qt_uint_add_acc);
        EXPECT_EQ(sum, 12497500U) << d;
        qarray_iter_loopaccum(a.get(), 1000, 1001, sum_units, nullptr, &sum, sizeof sum,
                              qt_uint_add_acc);
        EXPECT_EQ(sum, 1000U) << d;
    }
}

struct traveller {
    qarray* a;
    std::vector<bool> arrived;
};
aligned_t travel(void* p) {
    auto& t = *static_cast<traveller*>(p);
    for (std::size_t i = 0; i < t.a->count; i += t.a->segment_size) {
        bool const address = qarray_elem_migrate(t.a, i) == qarray_elem_nomigrate(t.a, i);
        t.arrived.push_back(address && qthread_shep() == qarray_shepof(t.a, i));
    }
    return 0;
}
TEST_F(arrays, a_qthread_goes_to_a_unit) {
    auto const a = make(5000, 8);
    traveller t{a.get(), {}};
    aligned_t end = 0;
    ASSERT_EQ(qthread_fork(travel, &t, &end), QTHREAD_SUCCESS);
    qthread_readFF(nullptr, &end);
    EXPECT_TRUE(std::all_of(t.arrived.begin(), t.arrived.end(), [](bool there) { return there; }));
    EXPECT_FALSE(t.arrived.empty());
}

// --- all pairs -----------------------------------------------------------------------------------

std::atomic<std::uint64_t> s_sum{0};
void add_product(void const* a, void const* b) {
    s_sum += *static_cast<std::uint64_t const*>(a) * *static_cast<std::uint64_t const*>(b);
}
void store_product(void const* a, void const* b, void* out) {
    if (out != nullptr)
        *static_cast<std::uint64_t*>(out) +=
            *static_cast<std::uint64_t const*>(a) * *static_cast<std::uint64_t const*>(b);
}

TEST_F(arrays, all_pairs) {
    constexpr std::size_t k_rows = 700, k_columns = 613; // of more than one segment
    auto const a = make(k_rows, 8, DIST_RAND);
    auto const b = make(k_columns, 24, FIXED_FIELDS);
    for (std::size_t i = 0; i != k_rows; ++i)
        *static_cast<std::uint64_t*>(qarray_elem_nomigrate(a.get(), i)) = i + 1;
    for (std::size_t j = 0; j != k_columns; ++j)
        *static_cast<std::uint64_t*>(qarray_elem_nomigrate(b.get(), j)) = j + 1;
    s_sum = 0;
    qt_allpairs(a.get(), b.get(), add_product);
    EXPECT_EQ(s_sum, k_rows * (k_rows + 1) / 2 * (k_columns * (k_columns + 1) / 2));
    std::vector<std::vector<std::uint64_t>> rows(k_rows, std::vector<std::uint64_t>(k_columns));
    std::vector<void*> output;
    for (auto& row : rows) output.push_back(row.data());
    qt_allpairs_output(a.get(), b.get(), store_product, output.data(), sizeof(std::uint64_t));
    for (std::size_t i = 0; i != k_rows; ++i)
        for (std::size_t j = 0; j != k_columns; ++j)
            ASSERT_EQ(rows[i][j], (i + 1) * (j + 1)) << i << " " << j;
    qt_allpairs_output(a.get(), b.get(), store_product, nullptr, 0);
    qt_allpairs(nullptr, b.get(), add_product);
    qt_allpairs(a.get(), b.get(), nullptr);
}

// --- wavefront -----------------------------------------------------------------------------------

std::atomic<std::size_t> s_cells{0};
double s_last = 0;
// Paths through a lattice, counted modulo a number that a double holds.
void count_paths(void const* left, void const* corner, void const* below, void* out) {
    double const sum = *static_cast<double const*>(left) + *static_cast<double const*>(corner) +
                       *static_cast<double const*>(below);
    *static_cast<double*>(out) =
        sum < 1e12 ? sum : sum - 1e12 * static_cast<double>(static_cast<long>(sum / 1e12));
    if (++s_cells == 600 * 700) s_last = *static_cast<double*>(out);
}

double expected_paths(std::size_t rows, std::size_t columns) {
    std::vector<double> column(rows + 1, 1.0);
    double result = 0;
    for (std::size_t c = 0; c != columns; ++c) {
        std::vector<double> next(rows + 1, 1.0);
        for (std::size_t r = 1; r <= rows; ++r) {
            double const sum = column[r] + column[r - 1] + next[r - 1];
            next[r] =
                sum < 1e12 ? sum : sum - 1e12 * static_cast<double>(static_cast<long>(sum / 1e12));
        }
        column = next;
        result = column[rows];
    }
    return result;
}

void fill_with_ones(qarray* a) {
    for (std::size_t i = 0; i != a->count; ++i)
        *static_cast<double*>(qarray_elem_nomigrate(a, i)) = 1.0;
}

TEST_F(arrays, wavefront) {
    auto const left = make(600, sizeof(double));
    auto const below = make(701, sizeof(double));
    fill_with_ones(left.get());
    fill_with_ones(below.get());
    s_cells = 0;
    qt_wavefront_lattice* const l = qt_wavefront(left.get(), below.get(), count_paths);
    ASSERT_NE(l, nullptr);
    EXPECT_EQ(s_cells, 600U * 700U);
    EXPECT_EQ(s_last, expected_paths(600, 700)) << "the last call is for the upper right corner";
    qt_wavefront_destroy_lattice(l);
}

TEST_F(arrays, wavefront_prints_its_edges) {
    auto const left = make(1, sizeof(double));
    auto const below = make(3, sizeof(double));
    fill_with_ones(left.get());
    fill_with_ones(below.get());
    qt_wavefront_lattice* const l = qt_wavefront(left.get(), below.get(), count_paths);
    testing::internal::CaptureStdout();
    qt_wavefront_print_lattice(l);
    std::string const text = testing::internal::GetCapturedStdout();
    EXPECT_NE(text.find("row line 1:     1.000     3.000     5.000"), std::string::npos) << text;
    EXPECT_NE(text.find("column line 1:     5.000"), std::string::npos) << text;
    qt_wavefront_destroy_lattice(l);
    qt_wavefront_print_lattice(nullptr);
    qt_wavefront_destroy_lattice(nullptr);
}

TEST_F(arrays, wavefront_without_a_row) {
    auto const left = make(5, sizeof(double));
    auto const corner = make(1, sizeof(double));
    auto const other_units = make(5, 2 * sizeof(double));
    EXPECT_EQ(qt_wavefront(left.get(), corner.get(), count_paths), nullptr);
    EXPECT_EQ(qt_wavefront(left.get(), other_units.get(), count_paths), nullptr);
    EXPECT_EQ(qt_wavefront(nullptr, left.get(), count_paths), nullptr);
    EXPECT_EQ(qt_wavefront(left.get(), left.get(), nullptr), nullptr);
}

void add_int(void const* left, void const* corner, void const* below, void* out) {
    *static_cast<int*>(out) = *static_cast<int const*>(left) + *static_cast<int const*>(corner) +
                              *static_cast<int const*>(below);
}
TEST_F(arrays, basic_wavefront) {
    int values[4][3] = {{1, 1, 1}, {1, 0, 0}, {1, 0, 0}, {1, 0, 0}};
    int* columns[] = {values[0], values[1], values[2], values[3]};
    qt_basic_wavefront(columns, 4, 3, add_int);
    EXPECT_EQ(values[1][1], 3);
    EXPECT_EQ(values[3][2], 25);
    qt_basic_wavefront(nullptr, 4, 3, add_int);
}

} // namespace

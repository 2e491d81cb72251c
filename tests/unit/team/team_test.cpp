// SPDX-License-Identifier: Apache-2.0
#include "loopback_places.hpp"
#include "team/place_state.hpp"

#include <tulle/c/team.h>
#include <tulle/team.hpp>
#include <tulle/tulle.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

class team_test : started, public testing::Test {};

// f(team, arguments...) at all members at once.
template <class F, class... A> void at_all(tulle::team const& members, F f, A const&... arguments) {
    tulle::finish([&](tulle::activities& all) {
        for (int member = 0; member < members.size(); ++member)
            all.async_at(members[member], f, members, arguments...);
    });
}

// Numbers of places, and networks that keep or change the order.
class team_over_places : started, public testing::TestWithParam<std::tuple<int, std::uint64_t>> {
protected:
    // Messages are so small that the strings below go by reference.
    loopback_places m_places{std::get<0>(GetParam()),
                             {.seed = std::get<1>(GetParam()), .most_bytes = 512}};
};

std::string text_of(int member) {
    return std::string(static_cast<std::size_t>(member * 300), static_cast<char>('a' + member));
}

TEST_P(team_over_places, nobody_passes_a_barrier_before_all_have_come) {
    auto const arrived =
        tulle::place_local<std::atomic<int>*>::make([] { return new std::atomic<int>(0); });
    at_all(
        tulle::team(),
        [](tulle::team all, tulle::place_local<std::atomic<int>*> count) {
            for (int phase = 1; phase <= 20; ++phase) {
                for (tulle::place const p : tulle::places())
                    tulle::at(
                        p, [](auto there) { ++**there; }, count);
                all.barrier();
                EXPECT_GE(**count, phase * all.size());
            }
            all.barrier();
            EXPECT_EQ(**count, 20 * all.size());
            delete *count;
        },
        arrived);
    arrived.destroy();
}

TEST_P(team_over_places, broadcast_from_each_root) {
    at_all(tulle::team(), [](tulle::team all) {
        for (int root = 0; root < all.size(); ++root) {
            std::string text = all.rank() == root ? text_of(root + 1) : "";
            all.broadcast(text, root);
            EXPECT_EQ(text, text_of(root + 1));
        }
    });
}

TEST_P(team_over_places, reduce_combines_in_the_order_of_ranks) {
    at_all(tulle::team(), [](tulle::team all) {
        std::string expected;
        for (int member = 0; member < all.size(); ++member) expected += text_of(member);
        std::string const everywhere = all.allreduce(text_of(all.rank()));
        EXPECT_EQ(everywhere, expected);
        for (int root = 0; root < all.size(); ++root) {
            std::optional<std::string> const result = all.reduce(text_of(all.rank()), root);
            EXPECT_EQ(result.has_value(), all.rank() == root);
            if (result) {
                EXPECT_EQ(*result, expected);
            }
        }
    });
}

TEST_P(team_over_places, gather_scatter_and_exchange) {
    at_all(tulle::team(), [](tulle::team all) {
        for (int root = 0; root < all.size(); ++root) {
            std::vector<int> const gathered = all.gather(10 * all.rank(), root);
            ASSERT_EQ(gathered.size(),
                      all.rank() == root ? static_cast<std::size_t>(all.size()) : 0U);
            for (std::size_t k = 0; k < gathered.size(); ++k)
                EXPECT_EQ(gathered[k], 10 * static_cast<int>(k));

            std::vector<std::string> to_all;
            for (int member = 0; member < all.size() && all.rank() == root; ++member)
                to_all.push_back(text_of(member));
            EXPECT_EQ(all.scatter(to_all, root), text_of(all.rank()));
        }
        std::vector<std::string> const texts = all.all_gather(text_of(all.rank()));
        std::vector<int> sent;
        for (int member = 0; member < all.size(); ++member)
            sent.push_back(100 * all.rank() + member);
        std::vector<int> const received = all.all_to_all(sent);
        ASSERT_EQ(texts.size(), static_cast<std::size_t>(all.size()));
        ASSERT_EQ(received.size(), static_cast<std::size_t>(all.size()));
        for (int member = 0; member < all.size(); ++member) {
            EXPECT_EQ(texts[static_cast<std::size_t>(member)], text_of(member));
            EXPECT_EQ(received[static_cast<std::size_t>(member)], 100 * member + all.rank());
        }
    });
}

TEST_P(team_over_places, teams_of_some_do_not_meet) {
    std::vector<tulle::place> even;
    std::vector<tulle::place> odd; // backwards
    for (tulle::place const p : tulle::places()) {
        if (p.index() % 2 == 0)
            even.push_back(p);
        else
            odd.insert(odd.begin(), p);
    }
    auto const sum_thrice = [](tulle::team some) {
        EXPECT_EQ(some[some.rank()], tulle::here());
        for (int k = 0; k < 3; ++k) {
            std::vector<int> const all = some.all_gather(tulle::here().index());
            for (int member = 0; member < some.size(); ++member)
                EXPECT_EQ(all[static_cast<std::size_t>(member)], some[member].index());
        }
    };
    tulle::finish([&](tulle::activities& all) {
        all.async([&] { at_all(tulle::team(even), sum_thrice); });
        if (!odd.empty()) all.async([&] { at_all(tulle::team(odd), sum_thrice); });
    });
}

// There is somebody else.
class team_of_several : public team_over_places {};

TEST_P(team_of_several, a_failure_reaches_all_that_need_what_is_missing_and_the_team_goes_on) {
    at_all(tulle::team(), [](tulle::team all) {
        auto const fails_at_last = [last = all.size() - 1, mine = all.rank()](int a, int b) {
            if (b == last && mine >= 0) throw std::domain_error("no sum");
            return a + b;
        };
        bool has_thrown = false;
        try {
            static_cast<void>(all.allreduce(all.rank(), fails_at_last));
        } catch (std::domain_error const&) {
            has_thrown = true;
        } catch (tulle::collective_error const& e) {
            has_thrown = true;
            EXPECT_NE(std::string(e.what()).find("no sum"), std::string::npos) << e.what();
        }
        EXPECT_TRUE(has_thrown);
        EXPECT_EQ(all.allreduce(1), all.size());
    });
}

TEST_P(team_of_several, a_root_with_too_few_values_says_so_everywhere) {
    at_all(tulle::team(), [](tulle::team all) {
        std::vector<int> const too_few(1);
        if (all.rank() == 0)
            EXPECT_THROW(static_cast<void>(all.scatter(too_few)), std::invalid_argument);
        else
            EXPECT_THROW(static_cast<void>(all.scatter(too_few)), tulle::collective_error);
        EXPECT_EQ(all.scatter(std::vector<int>(static_cast<std::size_t>(all.size()), 5)), 5);
    });
}

INSTANTIATE_TEST_SUITE_P(places, team_over_places,
                         testing::Combine(testing::Values(1, 2, 3, 4, 7),
                                          testing::Values(0U, 1U, 77U)));
INSTANTIATE_TEST_SUITE_P(places, team_of_several,
                         testing::Combine(testing::Values(2, 3, 4, 7),
                                          testing::Values(0U, 1U, 77U)));

TEST_F(team_test, refuses_what_is_no_team) {
    EXPECT_THROW(tulle::team(std::vector<tulle::place>{}), std::invalid_argument);
    EXPECT_THROW(tulle::team({tulle::place(0), tulle::place(0)}), std::invalid_argument);
    tulle::team const all;
    EXPECT_EQ(all.size(), 1);
    EXPECT_THROW(static_cast<void>(all[1]), std::out_of_range);
    EXPECT_THROW(static_cast<void>(all[-1]), std::out_of_range);
    int value = 1;
    EXPECT_THROW(all.broadcast(value, 1), std::out_of_range);
    EXPECT_THROW(static_cast<void>(all.gather(value, -1)), std::out_of_range);
}

TEST_F(team_test, only_members_take_part) {
    loopback_places const both(2);
    tulle::team const other({tulle::place(1)});
    EXPECT_THROW(static_cast<void>(other.rank()), std::logic_error);
    EXPECT_THROW(other.barrier(), std::logic_error);
    tulle::at(
        tulle::place(1), [](tulle::team own) { own.barrier(); }, other);
}

TEST_F(team_test, of_one_that_is_destroyed_in_c_nothing_is_left) {
    loopback_places places(3);
    auto const known = [&places](int place) {
        return tulle::teams::state_of(places.endpoint(place)).collectives.size();
    };
    std::array const before{known(0), known(1), known(2)};
    for (int round = 0; round < 5; ++round) {
        std::array const members{0, 2};
        tulle_team_t made{};
        ASSERT_EQ(tulle_team_create(&made, members.data(), 2), 0);
        tulle::finish([made](tulle::activities& all) {
            for (int const p : {0, 2})
                all.async_at(
                    tulle::place(p), [](tulle_team_t t) { EXPECT_EQ(tulle_team_barrier(t), 0); },
                    made);
        });
        EXPECT_EQ(known(2), before[2] + 1);
        EXPECT_EQ(tulle_team_destroy(made), 0);
        EXPECT_LT(tulle_team_barrier(made), 0);
    }
    EXPECT_EQ((std::array{known(0), known(1), known(2)}), before);
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
// The C functions of <tulle/c/team.h>. A team's members find it by its name, among the objects of
// their place.
#include "base/error.hpp"
#include "capi/bytes.hpp"
#include "capi/local_names.hpp"
#include "capi/without_exceptions.hpp"
#include "team/place_state.hpp"

#include <tulle/c/team.h>
#include <tulle/team.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace tulle::capi {
namespace {

using team_pointer = std::shared_ptr<team const>;

// Throws std::logic_error: it is not known here.
team_pointer team_named(tulle_team_t t) {
    if (t.name == 0) return std::make_shared<team const>();
    auto found = std::static_pointer_cast<team const>(detail::local_object(t.name));
    if (found == nullptr) throw std::logic_error("tulle: this place is not a member of that team");
    return found;
}

// Returns what action(team) returns.
template <class Action> int with_team(tulle_team_t t, Action action) {
    return without_exceptions([&] { return action(*team_named(t)); });
}

// Without memory the program ends, as in detail::begin_collective: a member that does not begin
// would meet the others in another operation from then on.
team_pointer team_to_begin(tulle_team_t t) try {
    return team_named(t);
} catch (std::bad_alloc const&) {
    base::fatal("no memory to begin a collective operation, for which other places wait");
}
template <class Action> int collectively(tulle_team_t t, Action action) {
    return without_exceptions([&] { return action(*team_to_begin(t)); });
}
template <class Action> int collectively(tulle_team_t t, int root, Action action) {
    return collectively(t, [&](team const& all) {
        return root >= 0 && root < all.size() ? action(all, all.rank() == root) : -EINVAL;
    });
}

// A value of an operation. There may be no memory to copy it: that is part of the operation, for
// which the others wait.
struct team_value {
    byte_block bytes{};
    bool is_there = true;
};

void require(team_value const& value, std::size_t size) {
    if (!value.is_there) throw std::bad_alloc();
    if (value.bytes.size() != size)
        throw std::invalid_argument("tulle::team: values of different sizes");
}
void put_value(team_value const& from, void* to, std::size_t size) {
    require(from, size);
    copy_bytes(to, from.bytes.data(), size);
}
team_value value_of(void const* bytes, std::size_t size) noexcept try {
    return {copy_of(bytes, size)};
} catch (std::bad_alloc const&) {
    return {{}, false};
}

// One after the other, as C has them. `is_there` false: there is no memory for them.
std::vector<team_value> split(void const* from, std::size_t size, int count,
                              bool& is_there) noexcept try {
    std::vector<team_value> values;
    auto const* at = static_cast<std::byte const*>(from);
    for (int k = 0; k < count; ++k)
        values.push_back(
            {copy_of(size != 0 ? at + static_cast<std::size_t>(k) * size : nullptr, size)});
    return values;
} catch (std::bad_alloc const&) {
    is_there = false;
    return {};
}
void put_all(std::vector<team_value> const& values, void* to, std::size_t size) {
    for (team_value const& value : values) require(value, size);
    for (std::size_t k = 0; size != 0 && k < values.size(); ++k)
        put_value(values[k], static_cast<std::byte*>(to) + k * size, size);
}
// The operation is told of too few values by itself.
template <class F> auto with_values(bool const& are_there, F operation) try {
    return operation();
} catch (std::invalid_argument const&) {
    if (!are_there) throw std::bad_alloc();
    throw;
}

struct combination {
    tulle_team_combine_t* combine;
    team_value operator()(team_value into, team_value const& other) const {
        require(into, into.bytes.size());
        require(other, into.bytes.size());
        combine(into.bytes.data(), other.bytes.data());
        return into;
    }
};

void add_team(std::uint64_t name, team const& made) {
    detail::set_local_object(name, std::make_shared<team>(made));
}

// The name that the team has in C++, of what travels of it.
struct name_of_team {
    std::uint64_t name = 0;
    void operator()(std::uint64_t& its_name, std::vector<int> const& /*members*/) {
        name = its_name;
    }
};

// At a place, with what it has counted of the team's operations.
void forget_team(std::uint64_t name) {
    auto const found = std::static_pointer_cast<team>(detail::local_object(name));
    if (found == nullptr) return; // it is no member
    name_of_team known;
    found->serialize(known);
    teams::forget_collectives(known.name);
    detail::set_local_object(name, nullptr);
}

std::uint64_t make_team(std::vector<place> const& members) {
    team const made(members);
    return make_under_new_name([&](activities& all, std::uint64_t name) {
        for (place const p : members)
            all.async_at(
                p, [](std::uint64_t its_name, team const& own) { add_team(its_name, own); }, name,
                made);
    });
}

} // namespace
} // namespace tulle::capi

template <> struct tulle::wire<tulle::capi::team_value> {
    static void put(wire_writer& out, capi::team_value const& value) {
        if (!value.is_there) throw std::bad_alloc();
        out.put(value.bytes);
    }
    static capi::team_value get(wire_reader& in) { return {in.get<capi::byte_block>()}; }
};

using namespace tulle::capi;
using tulle::team;

int tulle_team_create(tulle_team_t* out, const int* members, int count) {
    if (out == nullptr || members == nullptr || count <= 0) return -EINVAL;
    return without_exceptions([&] {
        std::vector<tulle::place> all;
        for (int k = 0; k < count; ++k) {
            if (!is_place_number(members[k])) return -EINVAL;
            all.emplace_back(members[k]);
        }
        out->name = make_team(all);
        return 0;
    });
}

int tulle_team_destroy(tulle_team_t t) {
    if (t.name == 0) return -EINVAL;
    return without_exceptions([t] {
        forget_everywhere_by([](std::uint64_t name) { forget_team(name); }, t.name);
        return 0;
    });
}

int tulle_team_size(tulle_team_t t) {
    return with_team(t, [](team const& all) { return all.size(); });
}
int tulle_team_rank(tulle_team_t t) {
    return with_team(t, [](team const& all) { return all.rank(); });
}
int tulle_team_place(tulle_team_t t, int rank) {
    return with_team(t, [=](team const& all) {
        return rank >= 0 && rank < all.size() ? all[rank].index() : -EINVAL;
    });
}

int tulle_team_barrier(tulle_team_t t) {
    return collectively(t, [](team const& all) {
        all.barrier();
        return 0;
    });
}

int tulle_team_broadcast(tulle_team_t t, void* value, size_t size, int root) {
    if (!is_block(value, size)) return -EINVAL;
    return collectively(t, root, [=](team const& all, bool is_root) {
        team_value bytes = is_root ? value_of(value, size) : team_value();
        all.broadcast(bytes, root);
        put_value(bytes, value, size);
        return 0;
    });
}

int tulle_team_reduce(tulle_team_t t, void* value, size_t size, tulle_team_combine_t* combine,
                      int root) {
    if (!is_block(value, size) || combine == nullptr) return -EINVAL;
    return collectively(t, root, [=](team const& all, bool /*here*/) {
        auto const result = all.reduce(value_of(value, size), root, combination{combine});
        if (result) put_value(*result, value, size);
        return 0;
    });
}

int tulle_team_allreduce(tulle_team_t t, void* value, size_t size, tulle_team_combine_t* combine) {
    if (!is_block(value, size) || combine == nullptr) return -EINVAL;
    return collectively(t, [=](team const& all) {
        put_value(all.allreduce(value_of(value, size), combination{combine}), value, size);
        return 0;
    });
}

int tulle_team_gather(tulle_team_t t, const void* value, size_t size, void* to, int root) {
    if (!is_block(value, size)) return -EINVAL;
    return collectively(t, root, [=](team const& all, bool is_root) {
        if (is_root && !is_block(to, size)) return -EINVAL;
        put_all(all.gather(value_of(value, size), root), to, size);
        return 0;
    });
}

int tulle_team_all_gather(tulle_team_t t, const void* value, size_t size, void* to) {
    if (!is_block(value, size) || !is_block(to, size)) return -EINVAL;
    return collectively(t, [=](team const& all) {
        put_all(all.all_gather(value_of(value, size)), to, size);
        return 0;
    });
}

int tulle_team_scatter(tulle_team_t t, const void* from, void* value, size_t size, int root) {
    if (!is_block(value, size)) return -EINVAL;
    return collectively(t, root, [=](team const& all, bool is_root) {
        if (is_root && !is_block(from, size)) return -EINVAL;
        bool are_there = true;
        auto const values =
            is_root ? split(from, size, all.size(), are_there) : std::vector<team_value>();
        put_value(with_values(are_there, [&] { return all.scatter(values, root); }), value, size);
        return 0;
    });
}

int tulle_team_all_to_all(tulle_team_t t, const void* from, void* to, size_t size) {
    if (!is_block(from, size) || !is_block(to, size)) return -EINVAL;
    return collectively(t, [=](team const& all) {
        bool are_there = true;
        auto const values = split(from, size, all.size(), are_there);
        put_all(with_values(are_there, [&] { return all.all_to_all(values); }), to, size);
        return 0;
    });
}

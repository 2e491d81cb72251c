// SPDX-License-Identifier: Apache-2.0
// The C functions of <tulle/detail/team.h>. A team's members find it by its name, among the objects of their place.
#include "remote/c_bytes.hpp"
#include "remote/local_names.hpp"
#include "remote/without_exceptions.hpp"

#include <tulle/detail/team.h>
#include <tulle/team.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace tulle::remote {
namespace {

using team_pointer = std::shared_ptr<team const>;

// Throws std::logic_error: it is not known here.
team_pointer team_named(tulle_team_t t) {
    if (t.name == 0) return std::make_shared<team const>();
    auto found = std::static_pointer_cast<team const>(detail::local_object(t.name));
    if (found == nullptr) throw std::logic_error("tulle: this place is not a member of that team");
    return found;
}

// What action(team) returns.
template <class Action> int with_team(tulle_team_t t, Action action) {
    return without_exceptions([&] { return action(*team_named(t)); });
}
template <class Action> int with_root(tulle_team_t t, int root, Action action) {
    return with_team(t, [&](team const& all) { return root >= 0 && root < all.size() ? action(all, all.rank() == root) : -EINVAL; });
}

void require_size(byte_block const& value, std::size_t size) {
    if (value.size() != size) throw std::invalid_argument("tulle::team: values of different sizes");
}
void put_block(byte_block const& from, void* to, std::size_t size) {
    require_size(from, size);
    copy_bytes(to, from.data(), size);
}

// One after the other, as C has them.
std::vector<byte_block> split(void const* from, std::size_t size, int count) {
    std::vector<byte_block> values;
    auto const* at = static_cast<std::byte const*>(from);
    for (int k = 0; k < count; ++k) values.push_back(copy_of(size != 0 ? at + static_cast<std::size_t>(k) * size : nullptr, size));
    return values;
}
void put_all(std::vector<byte_block> const& values, void* to, std::size_t size) {
    for (byte_block const& value : values) require_size(value, size);
    for (std::size_t k = 0; size != 0 && k < values.size(); ++k) put_block(values[k], static_cast<std::byte*>(to) + k * size, size);
}

struct combination {
    tulle_team_combine_t* combine;
    byte_block operator()(byte_block into, byte_block const& other) const {
        require_size(other, into.size());
        combine(into.data(), other.data());
        return into;
    }
};

void add_team(std::uint64_t name, team const& made) { detail::set_local_object(name, std::make_shared<team>(made)); }

std::uint64_t make_team(std::vector<place> const& members) {
    team const made(members);
    return make_under_new_name([&](activities& all, std::uint64_t name) {
        for (place const p : members)
            all.async_at(
                p, [](std::uint64_t its_name, team const& own) { add_team(its_name, own); }, name, made);
    });
}

} // namespace
} // namespace tulle::remote

using namespace tulle::remote;
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
        forget_everywhere(t.name);
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
    return with_root(t, rank, [=](team const& all, bool /*here*/) { return all[rank].index(); });
}

int tulle_team_barrier(tulle_team_t t) {
    return with_team(t, [](team const& all) {
        all.barrier();
        return 0;
    });
}

int tulle_team_broadcast(tulle_team_t t, void* value, size_t size, int root) {
    if (!is_block(value, size)) return -EINVAL;
    return with_root(t, root, [=](team const& all, bool is_root) {
        byte_block bytes = is_root ? copy_of(value, size) : byte_block();
        all.broadcast(bytes, root);
        put_block(bytes, value, size);
        return 0;
    });
}

int tulle_team_reduce(tulle_team_t t, void* value, size_t size, tulle_team_combine_t* combine, int root) {
    if (!is_block(value, size) || combine == nullptr) return -EINVAL;
    return with_root(t, root, [=](team const& all, bool /*here*/) {
        auto const result = all.reduce(copy_of(value, size), root, combination{combine});
        if (result) put_block(*result, value, size);
        return 0;
    });
}

int tulle_team_allreduce(tulle_team_t t, void* value, size_t size, tulle_team_combine_t* combine) {
    if (!is_block(value, size) || combine == nullptr) return -EINVAL;
    return with_team(t, [=](team const& all) {
        put_block(all.allreduce(copy_of(value, size), combination{combine}), value, size);
        return 0;
    });
}

int tulle_team_gather(tulle_team_t t, const void* value, size_t size, void* to, int root) {
    if (!is_block(value, size)) return -EINVAL;
    return with_root(t, root, [=](team const& all, bool is_root) {
        if (is_root && !is_block(to, size)) return -EINVAL;
        put_all(all.gather(copy_of(value, size), root), to, size);
        return 0;
    });
}

int tulle_team_all_gather(tulle_team_t t, const void* value, size_t size, void* to) {
    if (!is_block(value, size) || !is_block(to, size)) return -EINVAL;
    return with_team(t, [=](team const& all) {
        put_all(all.all_gather(copy_of(value, size)), to, size);
        return 0;
    });
}

int tulle_team_scatter(tulle_team_t t, const void* from, void* value, size_t size, int root) {
    if (!is_block(value, size)) return -EINVAL;
    return with_root(t, root, [=](team const& all, bool is_root) {
        if (is_root && !is_block(from, size)) return -EINVAL;
        put_block(all.scatter(is_root ? split(from, size, all.size()) : std::vector<byte_block>(), root), value, size);
        return 0;
    });
}

int tulle_team_all_to_all(tulle_team_t t, const void* from, void* to, size_t size) {
    if (!is_block(from, size) || !is_block(to, size)) return -EINVAL;
    return with_team(t, [=](team const& all) {
        put_all(all.all_to_all(split(from, size, all.size())), to, size);
        return 0;
    });
}

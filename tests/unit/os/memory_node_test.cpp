// SPDX-License-Identifier: Apache-2.0
#include "os/memory_node.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include <unistd.h>

namespace tulle::os {
namespace {

class nodes_folder : public testing::Test {
protected:
    nodes_folder() {
        write(0, "10 21 31\n");
        write(1, "21 10 12\n");
        write(2, "broken\n");
    }
    ~nodes_folder() override { std::filesystem::remove_all(path); }
    void write(int node, char const* text) {
        std::filesystem::path const folder =
            std::filesystem::path(path) / ("node" + std::to_string(node));
        std::filesystem::create_directories(folder);
        std::ofstream(folder / "distance") << text;
    }
    std::string path = testing::TempDir() + "tulle_nodes_" + std::to_string(::getpid());
};

TEST_F(nodes_folder, distances_are_read_from_the_table) {
    EXPECT_EQ(node_distance(0, 1, path.c_str()), 21);
    EXPECT_EQ(node_distance(0, 2, path.c_str()), 31);
    EXPECT_EQ(node_distance(1, 2, path.c_str()), 12);
    EXPECT_EQ(node_distance(1, 1, path.c_str()), 10);
}

TEST_F(nodes_folder, without_a_table_other_nodes_are_equally_far) {
    EXPECT_EQ(node_distance(2, 0, path.c_str()), 20);
    EXPECT_EQ(node_distance(0, 3, path.c_str()), 20);
    EXPECT_EQ(node_distance(7, 0, path.c_str()), 20);
    EXPECT_EQ(node_distance(-1, 0, path.c_str()), 20);
    EXPECT_EQ(node_distance(-1, -1, path.c_str()), 10);
}

TEST(memory_node, of_a_page_is_known_or_not) {
    auto const page = std::make_unique<char[]>(1U << 16U);
    int const node = node_of_page(page.get());
    EXPECT_GE(node, -1);
    EXPECT_EQ(node_of_page(page.get()), node);
    EXPECT_EQ(node_of_page(nullptr), -1);
}

} // namespace
} // namespace tulle::os

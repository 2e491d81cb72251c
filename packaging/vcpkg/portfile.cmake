# SPDX-License-Identifier: Apache-2.0
#
# The sources that this file lies in: `vcpkg install tulle --overlay-ports=packaging/vcpkg` in their folder.
get_filename_component(sources "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)

vcpkg_cmake_configure(
    SOURCE_PATH "${sources}"
    OPTIONS
        -DTULLE_BUILD_TESTS=OFF
        -DTULLE_BUILD_BENCH=OFF
        -DTULLE_BUILD_EXAMPLES=OFF
        -DTULLE_BUILD_TOOLS=OFF
        -DTULLE_BUILD_MPI=OFF
        -DTULLE_USE_CCACHE=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/tulle)
vcpkg_install_copyright(FILE_LIST "${sources}/LICENSE")

# Pages and scripts of the program `tulle`, and the prefix for foreign builds that look for Qthreads, have no place in a tree of vcpkg.
file(GLOB scripts "${CURRENT_PACKAGES_DIR}/share/*")
list(FILTER scripts EXCLUDE REGEX "/(tulle|man)$")
file(REMOVE_RECURSE ${scripts} "${CURRENT_PACKAGES_DIR}/share/man/man1" "${CURRENT_PACKAGES_DIR}/share/tulle/tulle-gdb.py"
    "${CURRENT_PACKAGES_DIR}/lib/tulle" "${CURRENT_PACKAGES_DIR}/debug/lib/tulle" "${CURRENT_PACKAGES_DIR}/debug/include"
    "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_fixup_pkgconfig() # of what is left: it wants to find every *.pc
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")

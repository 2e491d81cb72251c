# SPDX-License-Identifier: Apache-2.0
#
# Tests of a build for another architecture: GoogleTest from its sources for the target, and what a test program needs under an emulator.
set(googletest_sources /usr/src/googletest CACHE PATH "Sources of GoogleTest (package libgtest-dev)")
if(NOT EXISTS ${googletest_sources}/CMakeLists.txt)
    message(FATAL_ERROR "there are no sources of GoogleTest in ${googletest_sources}: install libgtest-dev, or set googletest_sources")
endif()
set(BUILD_GMOCK OFF CACHE BOOL "" FORCE)
set(INSTALL_GTEST OFF CACHE BOOL "" FORCE)
add_subdirectory(${googletest_sources} ${PROJECT_BINARY_DIR}/googletest EXCLUDE_FROM_ALL SYSTEM)
foreach(library gtest gtest_main) # compiled once for each architecture, for hardly more than a minute of tests
    target_compile_options(${library} PRIVATE -O0)
endforeach()

# A death test starts its own program again: here by way of the emulator.
add_library(tulle_test_emulated OBJECT ${CMAKE_CURRENT_LIST_DIR}/execv.cpp)
target_link_libraries(tulle_test_emulated PRIVATE tulle_flags)

list(JOIN CMAKE_CROSSCOMPILING_EMULATOR " " emulator_command)
set(test_environment ENVIRONMENT "TULLE_TEST_EMULATOR=${emulator_command}")

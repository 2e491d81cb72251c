# SPDX-License-Identifier: Apache-2.0
#
# ccache, where it is found: what has been compiled before is not compiled again, also in another clone or build folder, as paths count from
# the project's folder. -DTULLE_USE_CCACHE=OFF goes without; a compiler launcher that is given stays.
option(TULLE_USE_CCACHE "Compile by way of ccache, where it is found" ON)
find_program(ccache_program ccache NO_CACHE)
if(NOT TULLE_USE_CCACHE OR NOT ccache_program)
    return()
endif()

# A precompiled header is compared by its contents, of which neither the time of the build nor macros that it does not use are part.
# What a file includes is known from the dependencies that the compiler writes for ninja: no preprocessor runs ahead of it.
# (`cmake -E env` would take six times as long as env, thousands of times.)
set(ccache_launcher env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
    CCACHE_DEPEND=1 CCACHE_SLOPPINESS=pch_defines,time_macros ${ccache_program})
foreach(language C CXX)
    if(NOT CMAKE_${language}_COMPILER_LAUNCHER)
        set(CMAKE_${language}_COMPILER_LAUNCHER ${ccache_launcher})
    endif()
endforeach()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
else()
    add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
endif()

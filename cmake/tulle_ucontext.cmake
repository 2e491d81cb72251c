# SPDX-License-Identifier: Apache-2.0
#
# tulle_ucontext: the functions of <ucontext.h>, to be loaded before the C library (`tulle run --ucontext`). It needs neither the library nor
# a sanitizer: programs of others load it. Where there is no switch for the architecture, or no GNU C library, there is none, nor in builds with a
# sanitizer: `tulle` would put the run time of its own before it.
include(CheckSymbolExists)
check_symbol_exists(__GLIBC__ features.h tulle_has_glibc)
set(ucontext_folder ${PROJECT_SOURCE_DIR}/src/compat/ucontext)
if(NOT tulle_has_glibc OR NOT TULLE_SANITIZE STREQUAL "none" OR NOT EXISTS ${ucontext_folder}/arch/${TULLE_ARCH_FOLDER})
    return()
endif()

tulle_glob(ucontext_sources src/compat/ucontext/*.cpp src/compat/ucontext/*.S)
set(map ${ucontext_folder}/ucontext.map)
add_library(tulle_ucontext SHARED ${ucontext_sources})
set_target_properties(tulle_ucontext PROPERTIES OUTPUT_NAME tulle-ucontext VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
    LINKER_LANGUAGE C UNITY_BUILD OFF LINK_DEPENDS ${map})
target_include_directories(tulle_ucontext PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(tulle_ucontext PRIVATE tulle_flags ${CMAKE_DL_LIBS})
target_compile_options(tulle_ucontext PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions>)
target_link_options(tulle_ucontext PRIVATE LINKER:--version-script=${map} LINKER:-z,now LINKER:-z,nodelete
    LINKER:--no-undefined)

# SPDX-License-Identifier: Apache-2.0
#
# tulle_preload: the functions of <pthread.h>, <semaphore.h> and of input and output, to be loaded before the C library (`tulle run --pthreads`).
# It has the run time in itself. One table, symbols.def, says which functions it has: the linker sends what the run time itself calls of these
# past them (--wrap), and exports nothing else. Where the thread pointer cannot be set, or there is no GNU C library, there is none, nor in builds
# with a sanitizer, whose run time would have to come first.
set(preload_folder ${PROJECT_SOURCE_DIR}/src/compat/pthread)
if(NOT tulle_has_glibc OR NOT TULLE_SANITIZE STREQUAL "none" OR NOT EXISTS ${preload_folder}/arch/${TULLE_ARCH_FOLDER})
    return()
endif()

set(table ${preload_folder}/symbols.def)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${table})
file(STRINGS ${table} interposed REGEX "^TULLE_INTERPOSED\\(")
file(STRINGS ${table} exported REGEX "^TULLE_(INTERPOSED|EXPORTED|SECOND)\\(")
list(TRANSFORM interposed REPLACE "^.*\\((.*)\\)$" "\\1")
list(TRANSFORM interposed PREPEND "LINKER:--wrap=" OUTPUT_VARIABLE wrapped)
list(TRANSFORM exported REPLACE "^.*\\((.*)\\)$" "\\1")
string(JOIN "; " exported ${exported})
set(map ${PROJECT_BINARY_DIR}/tulle-preload.map)
file(CONFIGURE OUTPUT ${map} CONTENT [[{ global: @exported@; local: *; };]] @ONLY)

tulle_glob(preload_sources src/compat/pthread/*.cpp src/compat/pthread/*.S)
list(FILTER preload_sources EXCLUDE REGEX "/static/")
add_library(tulle_preload SHARED ${preload_sources} "$<FILTER:$<TARGET_OBJECTS:tulle_objects>,EXCLUDE,[.](gch|pch)$>")
set_target_properties(tulle_preload PROPERTIES OUTPUT_NAME tulle-preload VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
    LINKER_LANGUAGE CXX UNITY_BUILD OFF LINK_DEPENDS ${map} CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON CXX_EXTENSIONS ON)
target_include_directories(tulle_preload PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(tulle_preload PRIVATE tulle_flags Threads::Threads ${tulle_atomic} ${CMAKE_DL_LIBS})
target_compile_options(tulle_preload PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-ftls-model=initial-exec>)
target_link_options(tulle_preload PRIVATE LINKER:--version-script=${map} LINKER:-z,now LINKER:-z,nodelete LINKER:--no-undefined ${wrapped})

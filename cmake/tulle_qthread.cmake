# SPDX-License-Identifier: Apache-2.0
#
# tulle::qthread (shared) and tulle::qthread_static: what programs for Qthreads link, upon tulle::tulle. Their include path is
# include/compat/qthread. Inside this tree src/ is an include root of the sources.
tulle_glob(qthread_sources src/compat/qthread/*.cpp)

function(tulle_add_qthread target kind library)
    add_library(${target} ${kind} ${qthread_sources})
    set_target_properties(${target} PROPERTIES OUTPUT_NAME tulle-qthread LINKER_LANGUAGE CXX VISIBILITY_INLINES_HIDDEN ON UNITY_BUILD OFF)
    target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include/compat/qthread>
        $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/compat/qthread> PRIVATE ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(${target} PUBLIC ${library} PRIVATE $<BUILD_INTERFACE:tulle_flags>)
endfunction()

tulle_add_qthread(tulle_qthread_shared SHARED tulle_shared)
tulle_add_qthread(tulle_qthread_static STATIC tulle_static)
add_library(tulle::qthread ALIAS tulle_qthread_shared)
add_library(tulle::qthread_static ALIAS tulle_qthread_static)

set_target_properties(tulle_qthread_shared PROPERTIES EXPORT_NAME qthread VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR} INSTALL_RPATH "$ORIGIN" LINK_DEPENDS ${PROJECT_SOURCE_DIR}/src/compat/qthread/qthread.map)
set_target_properties(tulle_qthread_static PROPERTIES EXPORT_NAME qthread_static)
# Threads that are alive at dlclose run its code.
target_link_options(tulle_qthread_shared PRIVATE LINKER:--version-script=${PROJECT_SOURCE_DIR}/src/compat/qthread/qthread.map
    LINKER:-z,now LINKER:-z,nodelete)
if(TULLE_SANITIZE STREQUAL "none")
    target_link_options(tulle_qthread_shared PRIVATE LINKER:--no-undefined)
endif()

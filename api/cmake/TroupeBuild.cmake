# How every target of this project is compiled: language level, warnings, sanitizers, include roots.

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(TROUPE_CCACHE ccache)
  mark_as_advanced(TROUPE_CCACHE)
  if(TROUPE_CCACHE)
    # Without this, ccache does not cache what is compiled with a precompiled header.
    set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env
        CCACHE_SLOPPINESS=pch_defines,time_macros "${TROUPE_CCACHE}")
  endif()
endif()

# GCC 12 gives false -Wrestrict alarms for every `"literal" + std::string` that it inlines; with
# sanitizers it gives more of the kind, so those presets do not turn warnings into errors.
add_library(troupe_options INTERFACE)
target_compile_features(troupe_options INTERFACE cxx_std_20)
target_compile_options(troupe_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                       $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
                       $<$<BOOL:${TROUPE_WERROR}>:-Werror>)

# Sanitizers cover the whole tree, third-party headers included, so they are set for the directory.
if(TROUPE_SANITIZE STREQUAL "address")
  set(troupe_sanitize_flags -fsanitize=address,undefined -fno-sanitize-recover=all)
elseif(TROUPE_SANITIZE STREQUAL "thread")
  set(troupe_sanitize_flags -fsanitize=thread)
elseif(NOT TROUPE_SANITIZE STREQUAL "")
  message(FATAL_ERROR "TROUPE_SANITIZE must be empty, address or thread, not '${TROUPE_SANITIZE}'")
endif()
if(TROUPE_SANITIZE)
  add_compile_options(${troupe_sanitize_flags} -fno-omit-frame-pointer)
  add_link_options(${troupe_sanitize_flags})
endif()

# The options of an internal target, which sees the whole source tree: "core/x.hpp",
# "actors/x.hpp", <troupe/x.hpp>. The house tests hold the direction of those includes.
function(troupe_internal target)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/api")
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:troupe_options> troupe_caf
                        Microsoft.GSL::GSL nlohmann_json::nlohmann_json Threads::Threads)
endfunction()

# One layer of the library as an object library named troupe_<layer>. A layer of headers only has
# no objects and makes no target.
function(troupe_layer layer)
  list(TRANSFORM ARGN PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/" OUTPUT_VARIABLE patterns)
  file(GLOB sources CONFIGURE_DEPENDS ${patterns})
  if(sources)
    add_library(troupe_${layer} OBJECT ${sources})
    set_target_properties(troupe_${layer} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    troupe_internal(troupe_${layer})
    if(NOT layer STREQUAL core)
      # Reading CAF's headers is most of the work of compiling an actor.
      target_precompile_headers(troupe_${layer} PRIVATE
        <caf/event_based_actor.hpp> <caf/actor_system.hpp> <caf/actor_system_config.hpp>
        <gsl/gsl> <functional> <map> <memory> <mutex> <string> <vector>)
    endif()
  endif()
endfunction()

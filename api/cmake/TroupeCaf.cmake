# Defines the imported target troupe_caf: the CAF core library, 0.17.
#
# Debian ships CAF without a CMake package file, so headers and library are looked for here. The
# file is installed next to troupeConfig.cmake, because whoever links a static troupe links CAF too.
# Sets TroupeCaf_FOUND; within this project a missing CAF is an error.

find_path(TROUPE_CAF_INCLUDE_DIR caf/actor_system.hpp)
find_library(TROUPE_CAF_LIBRARY caf_core)
mark_as_advanced(TROUPE_CAF_INCLUDE_DIR TROUPE_CAF_LIBRARY)

set(TroupeCaf_VERSION "")
if(TROUPE_CAF_INCLUDE_DIR AND EXISTS "${TROUPE_CAF_INCLUDE_DIR}/caf/config.hpp")
  # CAF_VERSION holds two decimal digits a part: 1706 is 0.17.6.
  file(STRINGS "${TROUPE_CAF_INCLUDE_DIR}/caf/config.hpp" troupe_caf_line
       REGEX "^#define CAF_VERSION [0-9]+" LIMIT_COUNT 1)
  string(REGEX MATCH "[0-9]+" troupe_caf_number "${troupe_caf_line}")
  if(troupe_caf_number)
    math(EXPR troupe_caf_major "${troupe_caf_number} / 10000")
    math(EXPR troupe_caf_minor "${troupe_caf_number} / 100 % 100")
    math(EXPR troupe_caf_patch "${troupe_caf_number} % 100")
    set(TroupeCaf_VERSION "${troupe_caf_major}.${troupe_caf_minor}.${troupe_caf_patch}")
  endif()
endif()

if(TROUPE_CAF_LIBRARY AND TroupeCaf_VERSION MATCHES "^0\\.17\\.")
  set(TroupeCaf_FOUND TRUE)
  if(NOT TARGET troupe_caf)
    find_package(Threads QUIET)
    add_library(troupe_caf UNKNOWN IMPORTED GLOBAL)
    set_target_properties(troupe_caf PROPERTIES
      IMPORTED_LOCATION "${TROUPE_CAF_LIBRARY}"
      INTERFACE_INCLUDE_DIRECTORIES "${TROUPE_CAF_INCLUDE_DIR}"
      INTERFACE_LINK_LIBRARIES Threads::Threads)
  endif()
else()
  set(TroupeCaf_FOUND FALSE)
  if(NOT CMAKE_FIND_PACKAGE_NAME)
    message(FATAL_ERROR "CAF 0.17 was not found (version seen: '${TroupeCaf_VERSION}'). "
                        "On Debian 12: apt-get install libcaf-dev")
  endif()
endif()

# Operators are a library of their own, troupe::operators, so that who does not use them needs no
# oneDNN. Its headers are seen through it only, as those of troupe::testing are.
find_package(dnnl CONFIG QUIET)
if(NOT dnnl_FOUND)
  return()
endif()

file(GLOB operator_sources CONFIGURE_DEPENDS src/operators/*.cpp)
add_library(troupe_operator_library ${operator_sources})
add_library(troupe::operators ALIAS troupe_operator_library)
set_target_properties(troupe_operator_library PROPERTIES EXPORT_NAME operators
                      OUTPUT_NAME troupe_operators CXX_EXTENSIONS OFF
                      POSITION_INDEPENDENT_CODE ON
                      VERSION ${PROJECT_VERSION}
                      SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
# Not troupe_internal: what an installed static library links, its users must find.
target_include_directories(troupe_operator_library PRIVATE "${PROJECT_SOURCE_DIR}"
                           "${PROJECT_SOURCE_DIR}/api")
# Debian's oneDNN runs on libgomp; each engine sets that library's number of threads to one.
target_link_libraries(troupe_operator_library PUBLIC troupe PRIVATE DNNL::dnnl gomp
                      $<BUILD_INTERFACE:troupe_options>)

set(operators_include "${PROJECT_BINARY_DIR}/include_operators")
set(install_operators
    "${CMAKE_INSTALL_INCLUDEDIR}/troupe-operators-${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}")
file(REMOVE_RECURSE "${operators_include}")
file(MAKE_DIRECTORY "${operators_include}/troupe")
file(CREATE_LINK "${CMAKE_CURRENT_SOURCE_DIR}/troupe/operators"
     "${operators_include}/troupe/operators" SYMBOLIC)
target_include_directories(troupe_operator_library INTERFACE "$<BUILD_INTERFACE:${operators_include}>"
                           "$<INSTALL_INTERFACE:${install_operators}>")

install(TARGETS troupe_operator_library EXPORT troupeOperatorsTargets)
install(EXPORT troupeOperatorsTargets NAMESPACE troupe:: DESTINATION "${package_dir}")
install(DIRECTORY troupe/operators DESTINATION "${install_operators}/troupe"
        FILES_MATCHING PATTERN "*.hpp")

# The soak, troupe_soak: random work, faults and resets for as long as one likes (tests/soak/run). As
# a test it runs for a few seconds, where what is held at rest shows, but hardly what grows.

find_package(fmt CONFIG QUIET)
find_package(CLI11 CONFIG QUIET)
file(GLOB soak_tests CONFIGURE_DEPENDS soak/*_test.cpp)
file(GLOB soak_sources CONFIGURE_DEPENDS soak/*.cpp)
list(REMOVE_ITEM soak_sources ${soak_tests})
if(fmt_FOUND AND CLI11_FOUND)
  add_executable(troupe_soak ${soak_sources})
  troupe_internal(troupe_soak)
  target_link_libraries(troupe_soak PRIVATE troupe::troupe fmt::fmt CLI11::CLI11)
  add_test(NAME soak.short COMMAND troupe_soak --seconds 6 --intervals 2)
  set_tests_properties(soak.short PROPERTIES LABELS stress TIMEOUT 300)
  if(sanitizer_environment)
    set_tests_properties(soak.short PROPERTIES ENVIRONMENT "${sanitizer_environment}")
  endif()
endif()
target_sources(troupe_unit PRIVATE ${soak_tests} "${CMAKE_CURRENT_SOURCE_DIR}/soak/verdict.cpp")

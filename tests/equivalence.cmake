# The equivalence oracle, troupe_equivalence: random programs of operators run in every way there is,
# with equal results, for as long as one likes (tests/equivalence/run). As a test it tries some.

find_package(fmt CONFIG QUIET)
find_package(CLI11 CONFIG QUIET)
if(TARGET troupe::operators AND fmt_FOUND AND CLI11_FOUND)
  file(GLOB equivalence_sources CONFIGURE_DEPENDS equivalence/*.cpp)
  add_executable(troupe_equivalence ${equivalence_sources})
  troupe_internal(troupe_equivalence)
  target_link_libraries(troupe_equivalence PRIVATE troupe::operators fmt::fmt CLI11::CLI11)
  add_test(NAME equivalence.short COMMAND troupe_equivalence --programs 25 --schedules 2)
  set_tests_properties(equivalence.short PROPERTIES LABELS simulation TIMEOUT 300)
  if(sanitizer_environment)
    set_tests_properties(equivalence.short PROPERTIES ENVIRONMENT "${sanitizer_environment}")
  endif()
endif()

# The equivalence oracle, troupe_equivalence: random programs of operators run in every way there is,
# with equal results, for as long as one likes (tests/equivalence/run). As a test it tries some, and
# leaves order edges of some out to see that it would notice.

find_package(fmt CONFIG QUIET)
find_package(CLI11 CONFIG QUIET)
if(TARGET troupe::operators AND fmt_FOUND AND CLI11_FOUND)
  file(GLOB equivalence_sources CONFIGURE_DEPENDS equivalence/*.cpp)
  add_executable(troupe_equivalence ${equivalence_sources})
  troupe_internal(troupe_equivalence)
  target_link_libraries(troupe_equivalence PRIVATE troupe::operators fmt::fmt CLI11::CLI11)
  add_test(NAME equivalence.short COMMAND troupe_equivalence --programs 100 --schedules 3)
  add_test(NAME equivalence.leave_out
           COMMAND troupe_equivalence --programs 20 --schedules 20 --leave-out)
  set(equivalence_timeout 300)
  if(sanitized)
    set(equivalence_timeout 1200)
  endif()
  foreach(test equivalence.short equivalence.leave_out)
    set_tests_properties(${test} PROPERTIES LABELS simulation TIMEOUT ${equivalence_timeout})
    if(sanitizer_environment)
      set_tests_properties(${test} PROPERTIES ENVIRONMENT "${sanitizer_environment}")
    endif()
  endforeach()
endif()

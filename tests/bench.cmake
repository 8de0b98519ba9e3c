# The benchmark against peers, troupe_bench, and the tests of its own machinery. The program needs
# packages that the library does not: OpenCL with a driver, TBB and StarPU. With TROUPE_BENCH it is
# part of the default build; else it is made on demand where the packages are, and there is no such
# target where they are not.

set(bench_main "${CMAKE_CURRENT_SOURCE_DIR}/bench/bench_main.cpp")
file(GLOB bench_tests CONFIGURE_DEPENDS bench/*_test.cpp)
file(GLOB bench_machinery CONFIGURE_DEPENDS bench/*.cpp)
list(REMOVE_ITEM bench_machinery "${bench_main}" ${bench_tests})
file(GLOB bench_contenders CONFIGURE_DEPENDS bench/contenders/*.cpp bench/peers/*.cpp)
# What the digits example computes: its bare loop and its asynchronous pipeline.
set(digits_dir "${PROJECT_SOURCE_DIR}/examples/digits")
set(digits_sources digits_data weights tensor_operator operators network bare_loop device_network
                   classification async_step)
list(TRANSFORM digits_sources PREPEND "${digits_dir}/")
list(TRANSFORM digits_sources APPEND ".cpp")
set(simulated_sources simulation/reference_job.cpp)

find_package(fmt CONFIG QUIET)
find_package(CLI11 CONFIG QUIET)
find_package(dnnl CONFIG QUIET)
find_package(OpenCL QUIET)
find_package(TBB CONFIG QUIET)
find_package(ZLIB QUIET)
find_path(starpu_include starpu.h PATH_SUFFIXES starpu/1.3)
find_library(starpu_library starpu-1.3)

if(fmt_FOUND AND CLI11_FOUND AND dnnl_FOUND AND OpenCL_FOUND AND TBB_FOUND AND ZLIB_FOUND
   AND starpu_include AND starpu_library)
  set(bench_on_demand ON)
  if(TROUPE_BENCH)
    set(bench_on_demand OFF)
  endif()
  add_executable(troupe_bench ${bench_main} ${bench_machinery} ${bench_contenders}
                 ${digits_sources} ${simulated_sources})
  troupe_internal(troupe_bench)
  set_target_properties(troupe_bench PROPERTIES EXCLUDE_FROM_ALL ${bench_on_demand})
  target_compile_definitions(troupe_bench PRIVATE DIGITS_DATA_DIR="${digits_dir}/data")
  # Debian's oneDNN runs on libgomp; the digits set that library's number of threads.
  target_include_directories(troupe_bench SYSTEM PRIVATE "${starpu_include}")
  target_link_libraries(troupe_bench PRIVATE troupe::operators troupe::acl fmt::fmt CLI11::CLI11
                        DNNL::dnnl gomp OpenCL::OpenCL TBB::tbb ZLIB::ZLIB "${starpu_library}")
elseif(TROUPE_BENCH)
  message(FATAL_ERROR "TROUPE_BENCH needs fmt, CLI11, dnnl, OpenCL, TBB, StarPU and zlib. On "
                      "Debian 12: tests/bench/run installs what is missing")
endif()

# The machinery is tested without any peer, so these tests need neither OpenCL nor TBB.
if(bench_tests AND fmt_FOUND)
  add_executable(troupe_bench_machinery ${bench_tests} ${bench_machinery})
  troupe_internal(troupe_bench_machinery)
  target_link_libraries(troupe_bench_machinery PRIVATE troupe::troupe fmt::fmt GTest::gmock
                        GTest::gtest_main)
  troupe_ctest(bench_machinery 60)
endif()

# The Python module beside C++: on demand, see bench/python/run.
if(TARGET troupe_python)
  include(TroupePython)
  pybind11_add_module(troupe_python_peer NO_EXTRAS EXCLUDE_FROM_ALL bench/python/peer.cpp)
  troupe_internal(troupe_python_peer)
  target_link_libraries(troupe_python_peer PRIVATE troupe::troupe)
  set_target_properties(troupe_python_peer PROPERTIES CXX_VISIBILITY_PRESET hidden)
endif()

# Installs a built tree into an empty prefix, moves the prefix, and builds and runs the consumer
# against it: what is installed must be complete, relocatable and free of private headers.

foreach(name BUILD_DIR WORK_DIR CONSUMER_DIR GENERATOR CXX_COMPILER BUILD_TYPE)
  if(NOT DEFINED ${name})
    message(FATAL_ERROR "missing -D${name}=...")
  endif()
endforeach()

include("${CMAKE_CURRENT_LIST_DIR}/../support/run.cmake")

set(first_prefix "${WORK_DIR}/first_prefix")
set(prefix "${WORK_DIR}/prefix")
set(consumer_build "${WORK_DIR}/consumer")
file(REMOVE_RECURSE "${WORK_DIR}")
file(MAKE_DIRECTORY "${WORK_DIR}")

run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${first_prefix} --config ${BUILD_TYPE})
file(RENAME "${first_prefix}" "${prefix}")

file(GLOB_RECURSE installed RELATIVE "${prefix}" "${prefix}/*")
foreach(file ${installed})
  if(file MATCHES "(^|/)(actors|tests|src)/")
    message(FATAL_ERROR "a private file is installed: ${file}")
  endif()
  if(file MATCHES "\\.hpp$")
    file(STRINGS "${prefix}/${file}" private_includes REGEX "#include [<\"](actors|caf)/")
    if(private_includes)
      message(FATAL_ERROR "${file} exposes a private header: ${private_includes}")
    endif()
  endif()
endforeach()

run(${CMAKE_COMMAND} -S ${CONSUMER_DIR} -B ${consumer_build} -G ${GENERATOR}
    -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_CXX_COMPILER=${CXX_COMPILER}
    -DCMAKE_BUILD_TYPE=${BUILD_TYPE} -DCMAKE_FIND_PACKAGE_NO_PACKAGE_REGISTRY=ON)
run(${CMAKE_COMMAND} --build ${consumer_build} --config ${BUILD_TYPE})
run(${CMAKE_CTEST_COMMAND} --test-dir ${consumer_build} -C ${BUILD_TYPE} --output-on-failure
    --no-tests=error)

if(PYTHON)
  run(${CMAKE_COMMAND} -E env PYTHONPATH=${prefix}/lib/python3/dist-packages PYTHONDONTWRITEBYTECODE=1
      ${PYTHON} "${CMAKE_CURRENT_LIST_DIR}/installed_module.py" "${prefix}")
endif()

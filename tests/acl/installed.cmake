# Installs a built tree, and has examples/acl/run build and run its programs against it.

foreach(name BUILD_DIR WORK_DIR EXAMPLES BUILD_TYPE)
  if(NOT DEFINED ${name})
    message(FATAL_ERROR "missing -D${name}=...")
  endif()
endforeach()

include("${CMAKE_CURRENT_LIST_DIR}/../support/run.cmake")

file(REMOVE_RECURSE "${WORK_DIR}")
run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${WORK_DIR}/prefix --config ${BUILD_TYPE})
run("${EXAMPLES}/run" "${WORK_DIR}/prefix" "${WORK_DIR}/programs")

#pragma once

// A broken contract ends a process. With a planted bug it is one more way of failing, so here it
// throws: included before everything else that is compiled with the planted library.

#include <stdexcept>
#include <string>

#include <gsl/assert>

#undef Expects
#undef Ensures

#define TROUPE_CONTRACT(condition)                                                             \
  (static_cast<bool>(condition)                                                                \
       ? static_cast<void>(0)                                                                  \
       : throw std::logic_error(std::string("contract broken: ") + #condition + " in " +       \
                                __func__))
#define Expects(condition) TROUPE_CONTRACT(condition)
#define Ensures(condition) TROUPE_CONTRACT(condition)

#include "tests/planted/planted_bug.hpp"

#include "actors/submit_patience.hpp"

namespace troupe {

constinit thread_local const submit_patience* submit_patience::current = nullptr;

} // namespace troupe

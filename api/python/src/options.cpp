#include "api/python/src/options.hpp"

#include <array>
#include <atomic>
#include <string>

#include "api/python/src/arguments.hpp"

namespace troupe::python {
namespace {

constexpr std::array<const char*, 3> names{"enableMemoryReuse", "enablePipelining", "enableAsync"};
std::array<std::atomic<bool>, names.size()> values{};

std::size_t find(const std::string& name) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (name == names[i]) return i;
  }
  refuse("there is no option '" + name +
         "'; there are enableMemoryReuse, enablePipelining and enableAsync");
}

void set(const py::object& given, const py::object& value) {
  const auto name = to_text(given, "name");
  const auto at = find(name);
  if (!PyBool_Check(value.ptr())) {
    refuse("option " + name + " is True or False, not " + shown(value));
  }
  values[at].store(value.cast<bool>(), std::memory_order_relaxed);
}

} // namespace

bool option(name_of_option which) noexcept {
  return values[static_cast<std::size_t>(which)].load(std::memory_order_relaxed);
}

void bind_options(py::module_& m) {
  m.def(
      "set_option", &set, py::arg("name"), py::arg("value"),
      "Sets enableMemoryReuse (freed device memory is kept and handed out again), "
      "enablePipelining (copies and compute of calls without a stream overlap) or enableAsync "
      "(such calls return before their work is done) to True or False. Holds for the process; all "
      "are False at first.");
  m.def(
      "get_option",
      [](const py::object& name) {
        return values[find(to_text(name, "name"))].load(std::memory_order_relaxed);
      },
      py::arg("name"), "The value of an option.");
}

} // namespace troupe::python

#include "tests/bench/json_report.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <thread>

namespace troupe::bench {

namespace {

using nlohmann::json;

json series_json(const series& s, const row& line) {
  const auto [least, greatest] = std::minmax_element(s.figures.begin(), s.figures.end());
  const auto middle = median(s.figures);
  json result{{"median", middle}, {"min", *least}, {"max", *greatest}, {"figures", s.figures}};
  if (line.moves_bytes() && middle > 0)
    result["gb_per_s"] = gb_per_s(line.full.bytes, middle);
  return result;
}

json row_json(const report& r, const row& line) {
  auto figures = json::object();
  for (const auto& name : r.contenders)
    if (const auto* s = r.found.find(line.name, name))
      figures[name] = series_json(*s, line);
  return {{"row", line.name},
          {"meaning", line.meaning},
          {"unit", to_string(line.figure)},
          {"larger_is_better", larger_is_better(line.figure)},
          {"contenders", figures}};
}

json verdict_json(const verdict& v) {
  return {{"row", v.judged.row},
          {"limit", v.bound_text()},
          {"must", v.judged.must},
          {"goal", v.judged.goal ? json(*v.judged.goal) : json()},
          {"measured", v.measured ? json(*v.measured) : json()},
          {"verdict", v.text()}};
}

}  // namespace

json to_json(const report& r) {
  json result{{"processors", std::thread::hardware_concurrency()},
              {"repeats", r.repeats},
              {"quick", r.quick},
              {"judged", r.judged},
              {"rows", json::array()},
              {"limits", json::array()},
              {"problems", json::array()}};
  for (const auto& line : r.rows)
    result["rows"].push_back(row_json(r, line));
  for (const auto& v : judge(r.found, r.rows, r.judged))
    result["limits"].push_back(verdict_json(v));
  for (const auto& p : r.found.problems())
    result["problems"].push_back(
      {{"contender", p.contender}, {"row", p.row}, {"reason", p.reason}, {"crashed", p.crashed}});
  return result;
}

void write_json(const report& r, const std::string& path) {
  std::ofstream file(path);
  file << to_json(r).dump(2) << '\n';
  file.close();
  if (!file)
    throw std::runtime_error("cannot write " + path);
}

}  // namespace troupe::bench

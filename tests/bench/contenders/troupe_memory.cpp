#include "tests/bench/contenders/troupe_rows.hpp"
#include "tests/bench/contenders/troupe_session.hpp"
#include "tests/bench/host_pages.hpp"
#include "tests/bench/measure.hpp"

#include <algorithm>
#include <memory>
#include <vector>

namespace troupe::bench::troupe_rows {

namespace {

/// Device memory and host memory of either kind, all of it touched.
struct copy_session : troupe_session {
  explicit copy_session(std::size_t bytes)
    : troupe_session(1),
      on_device(ctx.allocate<std::byte>(bytes, initial::cleared).value()),
      ordinary(host_pages(bytes)),
      pinned(rt.allocate_host<std::byte>(bytes).value()) {
    std::fill(pinned.begin(), pinned.end(), std::byte{1});
  }

  buffer<std::byte> on_device;
  gsl::span<std::byte> ordinary;
  host_buffer<std::byte> pinned;
};

/// A row that calls `copy(session)` again and again.
template <class Copy>
repetition copies(const workload& w, Copy copy) {
  auto s = std::make_shared<copy_session>(w.bytes);
  return [s, copy, w] {
    return ns_each(w.count, [&] {
      for (std::size_t i = 0; i < w.count; ++i)
        copy(*s);
    });
  };
}

/// The whole of it in pieces, the last first.
std::vector<copy_entry> pieces_of(const copy_session& s, const std::byte* source) {
  constexpr std::size_t piece = 4'096;
  std::vector<copy_entry> made;
  made.reserve(s.on_device.size() / piece);
  for (auto at = s.on_device.size(); at >= piece; at -= piece)
    made.push_back({s.on_device.data() + at - piece, source + at - piece, piece});
  return made;
}

/// Conversions read `bytes` and write half of that.
convert_request halves_of(const copy_session& s, const std::byte* source) {
  convert_request made;
  made.target = s.on_device.data();
  made.target_bytes = s.on_device.size();
  made.source = source;
  made.count = s.on_device.size() / sizeof(float);
  made.how = {number_type::f32, number_type::f16, 1};
  return made;
}

}  // namespace

repetition pool_alloc_free(const workload& w) {
  auto s = std::make_shared<troupe_session>(1);
  auto blocks = s->ctx.create_pool().value();
  return [s, blocks, w] {
    return ns_each(w.count, [&] {
      for (std::size_t i = 0; i < w.count; ++i)
        const auto block = blocks.allocate<std::byte>(s->streams[0], w.bytes).value();
    });
  };
}

repetition alloc_cleared(const workload& w) {
  auto s = std::make_shared<troupe_session>(0);
  return [s, w] {
    return ns_each(w.count, [&] {
      for (std::size_t i = 0; i < w.count; ++i)
        s->ctx.allocate<std::byte>(w.bytes, initial::cleared).value().free().or_throw();
    });
  };
}

repetition copy_h2d(const workload& w) {
  return copies(w, [](copy_session& s) { s.ctx.copy(s.on_device, s.ordinary).or_throw(); });
}

repetition copy_d2h(const workload& w) {
  return copies(w, [](copy_session& s) { s.ctx.copy(s.ordinary, s.on_device).or_throw(); });
}

repetition stream_copy_h2d(const workload& w) {
  return copies(w, [](copy_session& s) {
    s.streams[0].copy(s.on_device, s.pinned).or_throw();
    s.sync_all();
  });
}

repetition stream_copy_d2h(const workload& w) {
  return copies(w, [](copy_session& s) {
    s.streams[0].copy(s.pinned, s.on_device).or_throw();
    s.sync_all();
  });
}

repetition copy_batch(const workload& w) {
  return copies(w, [](copy_session& s) {
    const auto entries = pieces_of(s, s.ordinary.data());
    s.ctx.copy_batch({entries, copy_kind::automatic, {}}).or_throw();
  });
}

repetition stream_copy_batch(const workload& w) {
  return copies(w, [](copy_session& s) {
    const auto entries = pieces_of(s, s.pinned.data());
    s.streams[0].copy_batch({entries, copy_kind::automatic, {}}).or_throw();
    s.sync_all();
  });
}

repetition copy_singly(const workload& w) {
  return copies(w, [](copy_session& s) {
    for (const auto& each : pieces_of(s, s.pinned.data())) {
      copy_request one;
      one.target = each.target;
      one.target_bytes = one.bytes = each.bytes;
      one.source = each.source;
      s.streams[0].copy_raw(one).or_throw();
    }
    s.sync_all();
  });
}

repetition convert_halves(const workload& w) {
  return copies(
    w, [](copy_session& s) { s.ctx.convert_raw(halves_of(s, s.ordinary.data())).or_throw(); });
}

repetition stream_convert_halves(const workload& w) {
  return copies(w, [](copy_session& s) {
    s.streams[0].convert_raw(halves_of(s, s.pinned.data())).or_throw();
    s.sync_all();
  });
}

}  // namespace troupe::bench::troupe_rows

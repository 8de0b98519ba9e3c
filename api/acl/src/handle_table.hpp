#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace troupe::acl {

/// What a handle that a client holds stands for.
enum class handle_kind : std::uint8_t {
  context = 1,
  stream,
  event,
  allocator,
  binary,
  function,
  graph,
  task_group,
  physical,
  data_buffer,
  dataset,
  tensor_desc,
  notify,
  condition,
  arguments,
};

/// The objects behind the `void*` that clients hold. A handle is no address but a place, a kind and
/// the number of times the place was used; so a handle that was destroyed, is of another kind, was
/// moved by a few bytes or never was one is recognised for ever. At most 2^20 objects at a time.
/// Any thread.
class handle_table {
 public:
  /// The handle of a new object. Null when there is no room.
  [[nodiscard]] void* add(handle_kind kind, std::shared_ptr<void> object);

  /// The object of `handle`, or null when it is not a handle of that kind (any more). What the
  /// calling thread looked up before costs no lock.
  [[nodiscard]] std::shared_ptr<void> find(handle_kind kind, void* handle) const;

  /// As `find`, for the length of one call: valid until the thread looks up another one of `kind`.
  [[nodiscard]] void* look(handle_kind kind, void* handle) const;

  /// Makes `handle` invalid and returns its object; null as of `find`.
  std::shared_ptr<void> remove(handle_kind kind, void* handle);

  /// Notes the handles that are made from now on, until `remove_noted` removes those that are still
  /// valid. Not twice at a time.
  void note_new();
  void remove_noted();

  /// The one table of the process. It is never destroyed: static destructors may use handles.
  [[nodiscard]] static handle_table& instance();

 private:
  struct entry {
    std::atomic<std::uint64_t> value = 0;  ///< the valid handle; 0: none
    std::uint64_t uses = 0;
    std::shared_ptr<void> object;
  };
  static constexpr std::size_t chunk_entries = 1024;
  static constexpr std::size_t chunks_max = 1024;
  using chunk = std::array<entry, chunk_entries>;

  std::shared_ptr<void> take_out(std::uint64_t value);
  [[nodiscard]] entry* entry_of(std::uint64_t value) const;
  [[nodiscard]] void* look_late(handle_kind kind, void* handle) const;

  mutable std::mutex guard_;
  std::array<std::atomic<chunk*>, chunks_max> chunks_{};
  std::size_t used_ = 0;
  std::vector<std::size_t> free_;
  mutable std::vector<std::shared_ptr<void>> late_;
  std::optional<std::vector<std::uint64_t>> noted_;
};

}  // namespace troupe::acl

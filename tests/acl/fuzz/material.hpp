#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include <acl/acl.h>

/// What a parameter is for: handles of a kind, and what else its type does not tell.
enum class role : std::uint8_t {
  stream,
  event,
  context,
  graph,
  task_group,
  allocator,
  binary,
  function,
  physical,
  data_buffer,
  tensor_desc,
  dataset,
  exception_info,
  notify,
  condition,
  arguments,
  address,  ///< of memory: host, device, any
  cell,     ///< of a value that might be waited for until somebody writes it
  device,   ///< index of a device
  small,    ///< a size of what is at an address, which must be there
  plain,    ///< whatever has the type
};
inline constexpr std::size_t handle_roles = 16;

/// Values that no call can do anything with, or nothing that matters. One thread at a time.
///
/// A handle is null, foreign, interior (moved by a few bytes), stale, of another kind, or all ones,
/// and null means the default stream where a stream is asked for. An address is null, of ordinary
/// memory, within a block of device memory, or of one that was freed. A device is none. Pointers to
/// where results go are null or good, as C cannot tell others; functions are null.
class material {
 public:
  /// With handles of the calling thread's current context.
  explicit material(std::uint64_t seed);
  ~material();
  material(const material&) = delete;
  material& operator=(const material&) = delete;

  template <class T>
  [[nodiscard]] T pick(role what) {
    if (what == role::address) return as<T>(choose(addresses_));
    if (what == role::cell) return as<T>(addresses_[draw() % cells]);
    if (what < role::address) return as<T>(handle(what));
    if constexpr (std::is_pointer_v<T> && std::is_function_v<std::remove_pointer_t<T>>) {
      return nullptr;
    } else if constexpr (std::is_same_v<T, const char*>) {
      return draw() % 3 == 0 ? nullptr : texts_[draw() % texts_.size()].c_str();
    } else if constexpr (std::is_pointer_v<T>) {
      return draw() % 3 == 0 ? nullptr : reinterpret_cast<T>(scratch_.data());
    } else if constexpr (std::is_enum_v<T>) {
      return static_cast<T>(choose(enumerators));
    } else if constexpr (std::is_class_v<T>) {
      return T{};
    } else {
      return static_cast<T>(what == role::device  ? choose(no_devices)
                            : what == role::small ? choose(small_sizes)
                                                  : choose(numbers));
    }
  }

  /// Makes what results go to and structures come from all zeros again.
  void clear() { scratch_.fill(0); }
  [[nodiscard]] bool is_clear() const;

 private:
  static constexpr std::array enumerators{-1, 0, 1, 4711, 1 << 30};
  static constexpr std::array<std::int64_t, 5> no_devices{-1, 64, 4711, INT32_MAX, INT32_MIN};
  static constexpr std::array<std::int64_t, 3> small_sizes{0, 1, 8};
  static constexpr std::array<std::int64_t, 8> numbers{
      0, 1, -1, -7, 4711, std::int64_t{1} << 40, INT64_MAX, INT64_MIN};

  // A handle is an address to the language; a number, where a parameter only sounds like one.
  template <class T>
  static T as(void* value) {
    if constexpr (std::is_pointer_v<T> && !std::is_function_v<std::remove_pointer_t<T>>) {
      return static_cast<T>(value);
    } else {
      return T{};
    }
  }
  // Of the addresses, those that can never be of a value in use.
  static constexpr std::size_t cells = 2;
  [[nodiscard]] std::uint64_t draw();
  template <class Values>
  [[nodiscard]] typename Values::value_type choose(const Values& from) {
    return from[draw() % from.size()];
  }
  [[nodiscard]] void* handle(role kind);
  void make_stale();

  std::uint64_t state_;
  alignas(64) std::array<unsigned char, 4096> scratch_{};
  std::array<void*, handle_roles> live_{};
  std::array<void*, handle_roles> stale_{};
  std::vector<void*> addresses_;
  void* block_ = nullptr;
  std::vector<std::string> texts_{"", "/nonexistent/x", std::string(5000, 'x'), "\xff\xfe"};
};

#include "core/copies/vector_conversion.hpp"

#include <algorithm>
#include <cstdint>

#if defined(__x86_64__) && defined(__GNUC__)
#define TROUPE_VECTOR_CONVERSION 1
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace troupe {
namespace {

constexpr std::size_t alignment = 32;

} // namespace

std::size_t elements_to_alignment(const std::byte* target, std::size_t count,
                                  number_type type) noexcept {
  const auto over = reinterpret_cast<std::uintptr_t>(target) % alignment;
  const auto bytes = (alignment - over) % alignment;
  if (bytes % size_of(type) != 0) return 0; // vectors will not be aligned: see convert_vectors
  return std::min(count, bytes / size_of(type));
}

#if defined(TROUPE_VECTOR_CONVERSION)

namespace {

#define TROUPE_VECTORS [[gnu::target("avx2,f16c")]]

[[nodiscard]] bool has_vectors() noexcept {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  static const bool found = __builtin_cpu_supports("avx2") != 0 &&
                            __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
  return found;
}

// Each writes one vector of 32 bytes.

template <bool around>
TROUPE_VECTORS inline void put(std::byte* target, __m256i value) noexcept {
  if constexpr (around) {
    _mm256_stream_si256(reinterpret_cast<__m256i*>(target), value);
  } else {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(target), value);
  }
}

TROUPE_VECTORS inline __m256 floats_at(const std::byte* source, std::size_t index) noexcept {
  return _mm256_loadu_ps(reinterpret_cast<const float*>(source) + index);
}

TROUPE_VECTORS inline __m128i sixteen_bytes_at(const std::byte* source) noexcept {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(source));
}

struct f32_to_f16 {
  static constexpr std::size_t elements = 16;
  TROUPE_VECTORS static __m256i make(const std::byte* source, __m256) noexcept {
    const auto low = _mm256_cvtps_ph(floats_at(source, 0), _MM_FROUND_TO_NEAREST_INT);
    const auto high = _mm256_cvtps_ph(floats_at(source, 8), _MM_FROUND_TO_NEAREST_INT);
    return _mm256_set_m128i(high, low);
  }
};

struct f16_to_f32 {
  static constexpr std::size_t elements = 8;
  TROUPE_VECTORS static __m256i make(const std::byte* source, __m256) noexcept {
    return _mm256_castps_si256(_mm256_cvtph_ps(sixteen_bytes_at(source)));
  }
};

struct f32_to_bf16 {
  static constexpr std::size_t elements = 16;
  TROUPE_VECTORS static __m256i rounded(__m256 value) noexcept {
    const auto bits = _mm256_castps_si256(value);
    const auto odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    const auto up = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7FFF)));
    const auto quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x40'0000));
    const auto nan = _mm256_castps_si256(_mm256_cmp_ps(value, value, _CMP_UNORD_Q));
    return _mm256_srli_epi32(_mm256_blendv_epi8(up, quiet, nan), 16);
  }
  TROUPE_VECTORS static __m256i make(const std::byte* source, __m256) noexcept {
    const auto packed =
        _mm256_packus_epi32(rounded(floats_at(source, 0)), rounded(floats_at(source, 8)));
    return _mm256_permute4x64_epi64(packed, 0b11'01'10'00);
  }
};

struct bf16_to_f32 {
  static constexpr std::size_t elements = 8;
  TROUPE_VECTORS static __m256i make(const std::byte* source, __m256) noexcept {
    return _mm256_slli_epi32(_mm256_cvtepu16_epi32(sixteen_bytes_at(source)), 16);
  }
};

struct f32_to_i8 {
  static constexpr std::size_t elements = 32;
  TROUPE_VECTORS static __m256i rounded(__m256 value, __m256 scale) noexcept {
    const auto scaled = _mm256_div_ps(value, scale);
    const auto number = _mm256_and_ps(scaled, _mm256_cmp_ps(scaled, scaled, _CMP_ORD_Q));
    const auto cut = _mm256_max_ps(_mm256_min_ps(number, _mm256_set1_ps(127)),
                                   _mm256_set1_ps(-128));
    return _mm256_cvtps_epi32(cut);
  }
  TROUPE_VECTORS static __m256i make(const std::byte* source, __m256 scale) noexcept {
    const auto a = rounded(floats_at(source, 0), scale);
    const auto b = rounded(floats_at(source, 8), scale);
    const auto c = rounded(floats_at(source, 16), scale);
    const auto d = rounded(floats_at(source, 24), scale);
    const auto packed = _mm256_packs_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
    return _mm256_permutevar8x32_epi32(packed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
  }
};

struct i8_to_f32 {
  static constexpr std::size_t elements = 8;
  TROUPE_VECTORS static __m256i make(const std::byte* source, __m256 scale) noexcept {
    const auto eight = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(source));
    const auto value = _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(eight));
    return _mm256_castps_si256(_mm256_mul_ps(value, scale));
  }
};

template <class Step, bool around>
TROUPE_VECTORS std::size_t run(std::byte* target, const std::byte* source, std::size_t count,
                               const conversion& how) noexcept {
  const auto scale = _mm256_set1_ps(how.scale);
  std::size_t done = 0;
  for (; done + Step::elements <= count; done += Step::elements) {
    put<around>(target, Step::make(source, scale));
    target += alignment;
    source += Step::elements * size_of(how.from);
  }
  if constexpr (around) _mm_sfence(); // before anybody is told that the numbers are there
  return done;
}

template <bool around>
std::size_t run_step(std::byte* target, const std::byte* source, std::size_t count,
                     const conversion& how) noexcept {
  switch (how.to) {
    case number_type::f16: return run<f32_to_f16, around>(target, source, count, how);
    case number_type::bf16: return run<f32_to_bf16, around>(target, source, count, how);
    case number_type::i8: return run<f32_to_i8, around>(target, source, count, how);
    case number_type::f32: break;
  }
  switch (how.from) {
    case number_type::f16: return run<f16_to_f32, around>(target, source, count, how);
    case number_type::bf16: return run<bf16_to_f32, around>(target, source, count, how);
    case number_type::i8: return run<i8_to_f32, around>(target, source, count, how);
    case number_type::f32: break;
  }
  return 0;
}

} // namespace

std::size_t convert_vectors(std::byte* target, const std::byte* source, std::size_t count,
                            const conversion& how, write_path path) noexcept {
  if (!has_vectors()) return 0;
  const bool aligned = reinterpret_cast<std::uintptr_t>(target) % alignment == 0;
  return path == write_path::around_cache && aligned ? run_step<true>(target, source, count, how)
                                                     : run_step<false>(target, source, count, how);
}

#else

std::size_t convert_vectors(std::byte*, const std::byte*, std::size_t, const conversion&,
                            write_path) noexcept {
  return 0;
}

#endif

} // namespace troupe

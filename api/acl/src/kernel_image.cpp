#include "api/acl/src/kernel_image.hpp"

#include <cstring>
#include <string>

#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include "api/acl/src/call.hpp"

namespace troupe::acl {
namespace {

std::string why_not() {
  const auto* const text = ::dlerror();
  return text != nullptr ? text : "no reason is known";
}

// The loader maps what the headers say and does not mind where a file ends: the process would die
// of a part that is missing.
bool is_whole(const std::byte* data, std::size_t bytes) {
  Elf64_Ehdr head;
  if (bytes < sizeof head) return false;
  std::memcpy(&head, data, sizeof head);
  if (std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0) return false;
  if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_type != ET_DYN) return false;
  if (head.e_phentsize != sizeof(Elf64_Phdr) || head.e_phoff > bytes) return false;
  if ((bytes - head.e_phoff) / sizeof(Elf64_Phdr) < head.e_phnum) return false;
  for (std::size_t i = 0; i < head.e_phnum; ++i) {
    Elf64_Phdr part;
    std::memcpy(&part, data + head.e_phoff + i * sizeof part, sizeof part);
    if (part.p_offset > bytes || part.p_filesz > bytes - part.p_offset) return false;
  }
  return true;
}

// A file that has no name and lives as long as it is open.
class nameless_file {
 public:
  nameless_file() : number_(::memfd_create("troupe_kernels", MFD_CLOEXEC)) {}
  ~nameless_file() {
    if (number_ >= 0) ::close(number_);
  }
  nameless_file(const nameless_file&) = delete;
  nameless_file& operator=(const nameless_file&) = delete;

  [[nodiscard]] bool write(const std::byte* data, std::size_t bytes) const {
    while (number_ >= 0 && bytes > 0) {
      const auto written = ::write(number_, data, bytes);
      if (written <= 0) return false;
      data += written;
      bytes -= static_cast<std::size_t>(written);
    }
    return number_ >= 0;
  }

  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(number_); }

 private:
  int number_;
};

}  // namespace

result<void*> load_file(const char* path) {
  auto* const library = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library != nullptr) return library;
  return make_status(code::invalid_file,
                     "no kernels from '" + std::string(path) + "': " + why_not());
}

result<void*> load_image(const void* data, std::size_t bytes) {
  const auto* const begin = static_cast<const std::byte*>(data);
  if (!is_whole(begin, bytes)) {
    return bad_parameter("the " + std::to_string(bytes) +
                         " bytes of kernels are no whole shared object");
  }
  const nameless_file file;
  if (!file.write(begin, bytes)) {
    return make_status(code::resource_shortage,
                       "there is no place for " + std::to_string(bytes) + " bytes of kernels");
  }
  return load_file(file.path().c_str());
}

}  // namespace troupe::acl

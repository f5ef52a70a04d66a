#include "qdp/io/site_list.hpp"

#include <algorithm>
#include <vector>

namespace QDP::io {

SiteList::SiteList(const InputFile& file, std::uint64_t offset, std::uint64_t bytes, std::size_t bytes_each)
    : size_(bytes / bytes_each), visit_([&file, offset, bytes_each, size = size_](const Take& take) {
        std::vector<unsigned char> raw;
        std::vector<std::uint64_t> numbers;
        for (std::uint64_t done = 0; done < size; done += numbers.size()) {
          numbers.assign(static_cast<std::size_t>(std::min(kPiece, size - done)), 0);
          raw.resize(numbers.size() * bytes_each);
          file.read_at(offset + done * bytes_each, raw.data(), raw.size(), "list of sites");
          const unsigned char* next = raw.data();
          for (std::uint64_t& number : numbers)
            for (std::size_t byte = 0; byte < bytes_each; ++byte) number = number << 8 | *next++;
          take(numbers);
        }
      }) {}

}  // namespace QDP::io

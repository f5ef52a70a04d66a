#include "qdp/io/site_list.hpp"

#include <algorithm>
#include <vector>

namespace QDP::io {

void SiteList::for_each_piece(const std::function<void(std::span<const std::uint64_t>)>& take) const {
  constexpr std::uint64_t kNumbers = std::uint64_t{1} << 16;
  std::vector<unsigned char> raw;
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t done = 0; done < size_; done += numbers.size()) {
    numbers.assign(static_cast<std::size_t>(std::min(kNumbers, size_ - done)), 0);
    raw.resize(numbers.size() * bytes_each_);
    file_->read_at(offset_ + done * bytes_each_, raw.data(), raw.size(), "list of sites");
    const unsigned char* next = raw.data();
    for (std::uint64_t& number : numbers)
      for (std::size_t byte = 0; byte < bytes_each_; ++byte) number = number << 8 | *next++;
    take(numbers);
  }
}

}  // namespace QDP::io

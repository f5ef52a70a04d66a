#include "qdp/io/scidac_volumes.hpp"

#include "jit/support/error.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace QDP::io {

namespace {

constexpr std::string_view kSuffix = ".vol";
constexpr std::size_t kFewestDigits = 4;

/// Length of NAME in NAME.vol0000; npos for other names.
std::size_t length_of_name(std::string_view file) {
  const std::size_t at = file.rfind(kSuffix);
  if (at == file.npos) return at;
  const std::string_view number = file.substr(at + kSuffix.size());
  const bool digits = std::ranges::all_of(number, [](char c) { return c >= '0' && c <= '9'; });
  return digits && number.size() >= kFewestDigits ? at : file.npos;
}

/// Files beside `first` whose names differ in the number alone, in the order of these.
std::vector<std::string> other_files(const std::string& first) {
  const std::size_t length = length_of_name(first);
  if (length == first.npos)
    throw jit::UserError({.what = first + ": one of several files of a field",
                          .expected = "a name that ends in .vol and four digits, as QIO's names do",
                          .got = "another name",
                          .what_now = "Rename the files as they were written"});
  const std::string name = first.substr(0, length);
  const std::filesystem::path folder = std::filesystem::path(first).parent_path();
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder.empty() ? "." : folder, error)) {
    const std::string file = (folder / entry.path().filename()).string();
    if (file != first && length_of_name(file) == name.size() && file.starts_with(name)) files.push_back(file);
  }
  if (error) throw jit::UserError({.what = folder.string(), .expected = "a folder to list", .got = error.message()});
  std::ranges::sort(files, [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  return files;
}

bool is_data(const LimeRecord& record) {
  return record.type == "scidac-binary-data" || record.type == "ildg-binary-data";
}

}  // namespace

std::string volume_name(const std::string& path, int number) {
  const std::string digits = std::to_string(number);
  return path + std::string(kSuffix) + std::string(kFewestDigits - std::min(kFewestDigits, digits.size()), '0') +
         digits;
}

std::string first_volume(const std::string& path) {
  std::error_code ignored;
  const std::string first = volume_name(path, 0);
  return !std::filesystem::exists(path, ignored) && std::filesystem::exists(first, ignored) ? first : path;
}

void require_no_other_volumes(const std::string& path, const std::vector<Volume>& files) {
  std::vector<std::string> own;
  for (const Volume& file : files) own.push_back(volume_name(path, file.number));
  std::vector<std::string> there = other_files(own[0]);
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) there.push_back(path);
  for (const std::string& file : there)
    if (std::ranges::find(own, file) == own.end())
      throw jit::UserError({.what = file + ": beside " + std::to_string(own.size()) + " files from " + own[0] + " on",
                            .expected = "no file that would be taken for one of them",
                            .got = "one that is there already",
                            .what_now = "Remove it, or write under another name"});
}

void remove_volume(const std::string& file) {
  std::error_code error;
  std::filesystem::remove(file, error);
  if (error) throw jit::FileError({.what = "remove \"" + file + "\"", .got = error.message()}, error.value());
}

void write_site_list(LimeWriter& lime, const SiteList& sites, LimePosition position) {
  std::uint64_t last = 0;
  sites.for_each_piece(
      [&](std::span<const std::uint64_t> numbers) { last = std::max(last, std::ranges::max(numbers)); });
  const std::size_t bytes_each = last <= 0xFFFF'FFFF ? sizeof(std::uint32_t) : sizeof(std::uint64_t);
  lime.begin_record(kSiteListRecord, sites.size() * bytes_each, position);
  std::vector<unsigned char> raw;
  sites.for_each_piece([&](std::span<const std::uint64_t> numbers) {
    raw.resize(numbers.size() * bytes_each);
    unsigned char* next = raw.data();
    for (const std::uint64_t number : numbers)
      for (std::size_t byte = bytes_each; byte-- > 0;) *next++ = static_cast<unsigned char>(number >> 8 * byte);
    lime.write(raw.data(), raw.size());
  });
  lime.end_record();
}

OtherVolumes::OtherVolumes(const LimeReader& first, const LimeRecord& list, const SiteGeometry& geometry,
                           std::size_t fields)
    : list_of_first_(list) {
  std::uint64_t bytes = list.size;
  for (const std::string& file : other_files(first.path())) {
    Volume& volume = volumes_.emplace_back(Volume{LimeReader(file), {}, {}});
    for (const LimeRecord& record : volume.lime.records()) {
      if (record.type == kSiteListRecord) volume.list = record;
      if (is_data(record)) volume.data.push_back(record);
    }
    if (volume.list.type.empty())
      throw_format_error(file, 0, "one of several files of a field", "a record " + std::string(kSiteListRecord),
                         volume.lime.records()[0].type);
    if (volume.data.size() != fields)
      throw_format_error(file, 0, "one of several files of a field",
                         std::to_string(fields) + " fields, as in " + first.path(), std::to_string(volume.data.size()),
                         "The files are not of the same set");
    bytes += volume.list.size;
  }
  const std::uint64_t sites = geometry.volume();
  bytes_each_ = bytes == sites * sizeof(std::uint64_t) ? sizeof(std::uint64_t) : sizeof(std::uint32_t);
  if (bytes != sites * bytes_each_)
    throw jit::UserError({.what = first.path() + " and " + std::to_string(volumes_.size()) + " other files of its name",
                          .expected = "the " + std::to_string(sites) + " sites of lattice " + geometry.text(),
                          .got = std::to_string(bytes / bytes_each_) + " sites",
                          .what_now = "See that all files of the set are there, and none of another"});
  check_sites(first, geometry);
}

SiteList OtherVolumes::sites_of(const LimeReader& lime, const LimeRecord& list) const {
  return {lime.file(list, list.size), list.data_offset, list.size, bytes_each_};
}

/// As many numbers as sites: each is there once if none is there twice.
void OtherVolumes::check_sites(const LimeReader& first, const SiteGeometry& geometry) const {
  std::vector<bool> seen(static_cast<std::size_t>(geometry.volume()));
  const auto check = [&](const LimeReader& lime, const LimeRecord& list) {
    sites_of(lime, list).for_each_piece([&](std::span<const std::uint64_t> numbers) {
      for (const std::uint64_t number : numbers) {
        if (number >= seen.size() || seen[number])
          throw_format_error(lime.path(), list.data_offset, "list of sites",
                             "each site of lattice " + geometry.text() + " once in all files of the set",
                             "site " + std::to_string(number) + (number < seen.size() ? " twice" : ""),
                             "The files are damaged, or not of the same set");
        seen[number] = true;
      }
    });
  };
  check(first, list_of_first_);
  for (const Volume& volume : volumes_) check(volume.lime, volume.list);
}

std::vector<OtherVolumes::Part> OtherVolumes::parts(const LimeReader& first, const LimeRecord& data,
                                                    std::size_t field) const {
  std::vector<Part> parts{{&first, &data, sites_of(first, list_of_first_)}};
  for (const Volume& volume : volumes_)
    parts.push_back({&volume.lime, &volume.data[field], sites_of(volume.lime, volume.list)});
  return parts;
}

}  // namespace QDP::io

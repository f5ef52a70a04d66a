#include "qdp/io/hdf5.hpp"

#include <hdf5.h>

#include "jit/support/error.hpp"
#include "jit/support/file.hpp"
#include "qdp/io/field_stream.hpp"
#include "qdp/io/payload.hpp"
#include "qdp/util/primary.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <system_error>
#include <utility>

namespace QDP {

using detail::Hdf5Numbers;
using detail::Hdf5Word;
using detail::RecordTarget;

namespace {

using Extents = std::vector<hsize_t>;

/// Something of the library that is to be closed.
class Id {
 public:
  Id(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~Id() {
    if (id_ >= 0) close_(id_);
  }
  Id(Id&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Id& operator=(Id&&) = delete;
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

/// What the library says of the failure of its last call, innermost first.
std::string last_error() {
  std::string text;
  const auto take = [](unsigned, const H5E_error2_t* error, void* to) -> herr_t {
    auto& all = *static_cast<std::string*>(to);
    if (all.empty() && error->desc != nullptr) all = error->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take, &text);
  return text.empty() ? "a failure without a reason" : text;
}

/// `done` is what a call of the library has returned.
template <class Result> Result require(Result done, const std::string& what) {
  if (done < 0) throw jit::FileError({.what = what, .got = last_error(), .where = "libhdf5"}, 0);
  return done;
}
Id require(Id id, const std::string& what) {
  require(static_cast<hid_t>(id), what);
  return id;
}

hid_t memory_type(Hdf5Word word) {
  switch (word) {
    case Hdf5Word::i16:
      return H5T_NATIVE_SHORT;
    case Hdf5Word::u16:
      return H5T_NATIVE_USHORT;
    case Hdf5Word::i32:
      return H5T_NATIVE_INT;
    case Hdf5Word::u32:
      return H5T_NATIVE_UINT;
    case Hdf5Word::u64:
      return H5T_NATIVE_ULLONG;
    case Hdf5Word::f32:
      return H5T_NATIVE_FLOAT;
    case Hdf5Word::f64:
      break;
  }
  return H5T_NATIVE_DOUBLE;
}

std::string name_of(hid_t type) {
  const std::string bits = std::to_string(8 * H5Tget_size(type)) + " bits";
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
      return (H5Tget_sign(type) == H5T_SGN_NONE ? "unsigned integers of " : "integers of ") + bits;
    case H5T_FLOAT:
      return "floating-point numbers of " + bits;
    case H5T_STRING:
      return "text";
    case H5T_COMPOUND:
      return "a compound type";
    case H5T_ARRAY:
      return "arrays";
    default:
      return "another type";
  }
}

std::string text_of(const Extents& extents) {
  std::string text;
  for (const hsize_t n : extents) text += (text.empty() ? "" : " x ") + std::to_string(n);
  return text.empty() ? "one object" : text;
}

hsize_t product(std::span<const hsize_t> extents) {
  hsize_t all = 1;
  for (const hsize_t n : extents) all *= n;
  return all;
}

Extents extents_of(hid_t space, const std::string& what) {
  Extents extents(static_cast<std::size_t>(require(H5Sget_simple_extent_ndims(space), what)));
  if (!extents.empty()) require(H5Sget_simple_extent_dims(space, extents.data(), nullptr), what);
  return extents;
}

Id space_of(const Extents& extents) {
  if (extents.empty()) return {H5Screate(H5S_SCALAR), H5Sclose};
  return {H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr), H5Sclose};
}

/// Selects a piece of a dataset; where it lies in memory.
Id select(hid_t dataset_space, const Extents& start, const Extents& box, const std::string& what) {
  require(H5Sselect_hyperslab(dataset_space, H5S_SELECT_SET, start.data(), nullptr, box.data(), nullptr), what);
  return space_of({product(box)});
}

// ---- types of elements: a number, {r, i}, arrays of these

/// Numbers in an element of this type, all of class `wanted`; 0: it is none of those that we know.
std::size_t numbers_in(hid_t type, H5T_class_t wanted) {
  const H5T_class_t kind = H5Tget_class(type);
  if (kind == wanted) return 1;
  if (kind == H5T_ARRAY) {
    Extents extents(static_cast<std::size_t>(H5Tget_array_ndims(type)));
    H5Tget_array_dims2(type, extents.data());
    return product(extents) * numbers_in(Id(H5Tget_super(type), H5Tclose), wanted);
  }
  if (kind != H5T_COMPOUND || H5Tget_nmembers(type) != 2) return 0;
  const Id real(H5Tget_member_type(type, 0), H5Tclose), imaginary(H5Tget_member_type(type, 1), H5Tclose);
  return H5Tget_class(real) == wanted && H5Tequal(real, imaginary) > 0 ? 2 : 0;
}

/// The same type with numbers of memory, which follow each other.
Id in_memory(hid_t type, hid_t number) {
  switch (H5Tget_class(type)) {
    case H5T_ARRAY: {
      Extents extents(static_cast<std::size_t>(H5Tget_array_ndims(type)));
      H5Tget_array_dims2(type, extents.data());
      const Id inner = in_memory(Id(H5Tget_super(type), H5Tclose), number);
      return {H5Tarray_create2(inner, static_cast<unsigned>(extents.size()), extents.data()), H5Tclose};
    }
    case H5T_COMPOUND: {
      const std::size_t bytes = H5Tget_size(number);
      Id both(H5Tcreate(H5T_COMPOUND, 2 * bytes), H5Tclose);
      for (unsigned part = 0; part < 2; ++part) {
        char* const name = H5Tget_member_name(type, part);
        H5Tinsert(both, name, part * bytes, number);
        H5free_memory(name);
      }
      return both;
    }
    default:
      return {H5Tcopy(number), H5Tclose};
  }
}

bool is_square(detail::Level level, int rows) { return level.kind == detail::Kind::matrix && level.n == rows; }
bool is_complex(detail::Shape s) { return s.scalar_levels() && s.complex && is_float(s.word); }
bool is_color_matrix(detail::Shape s) {
  return s.spin.is_scalar() && is_square(s.color, 3) && s.complex && is_float(s.word);
}
bool is_propagator(detail::Shape s) {
  return is_square(s.spin, 4) && is_square(s.color, 3) && s.complex && is_float(s.word);
}

hid_t number_of(detail::Shape shape, const std::string& what) {
  switch (shape.word) {
    case detail::Type::f32:
      return H5T_NATIVE_FLOAT;
    case detail::Type::f64:
      return H5T_NATIVE_DOUBLE;
    case detail::Type::i32:
      return H5T_NATIVE_INT;
    default:
      throw jit::UserError({.what = what,
                            .expected = "numbers of 32 or 64 bits, no truth values",
                            .got = jit::ir::name(shape.word),
                            .what_now = "Convert it to a type of real or integer numbers"});
  }
}

/// Reads or writes pieces of a dataset that follow each other. `dims` of it are sites'; `most` sites at a time.
void for_each_block(
    const Extents& extents, std::size_t dims, hsize_t most,
    const std::function<void(hsize_t begin, hsize_t count, const Extents& start, const Extents& box)>& use) {
  std::size_t cut = dims - 1;  // whole beyond it, one by one before it
  hsize_t inner = 1;
  while (cut > 0 && inner * extents[cut] <= most) inner *= extents[cut--];
  const hsize_t step = std::clamp<hsize_t>(most / inner, 1, extents[cut]);
  const hsize_t outer = product(std::span(extents).first(cut));
  for (hsize_t o = 0; o < outer; ++o)
    for (hsize_t i = 0; i < extents[cut]; i += step) {
      Extents start(extents.size(), 0), box = extents;
      hsize_t rest = o;
      for (std::size_t d = cut; d-- > 0; rest /= extents[d]) start[d] = rest % extents[d], box[d] = 1;
      start[cut] = i;
      box[cut] = std::min(step, extents[cut] - i);
      use((o * extents[cut] + i) * inner, box[cut] * inner, start, box);
    }
}

/// Sites in the order of a dataset by their numbers in the order of files of fields.
std::vector<io::SiteRun> runs_of(hsize_t begin, hsize_t count, HDF5Base::accessmode order,
                                 const io::SiteGeometry& lattice) {
  if (order == HDF5Base::transpose_order) return {{begin, count}};
  std::vector<io::SiteRun> runs;
  for (hsize_t i = begin; i < begin + count; ++i) {
    // The last coordinate runs fastest there, the first one here.
    hsize_t rest = i, stride = lattice.volume(), number = 0;
    for (std::size_t mu = lattice.extents.size(); mu-- > 0;) {
      const auto extent = static_cast<hsize_t>(lattice.extents[mu]);
      stride /= extent;
      number += rest % extent * stride;
      rest /= extent;
    }
    runs.push_back({number, 1});
  }
  return runs;
}

Extents extents_in_file(const io::SiteGeometry& lattice, HDF5Base::accessmode order) {
  Extents extents(lattice.extents.begin(), lattice.extents.end());
  if (order == HDF5Base::transpose_order) std::reverse(extents.begin(), extents.end());
  return extents;
}

}  // namespace

/// On the primary.
struct HDF5::File {
  std::string path;
  Id file;
  bool writing;

  std::string label(const std::string& name) const { return "\"" + path + "\", " + name; }

  bool exists(const std::string& absolute) const {
    for (std::size_t end = absolute.find('/', 1);; end = absolute.find('/', end + 1)) {
      const std::string part = absolute.substr(0, end);
      if (part != "/" &&
          (H5Lexists(file, part.c_str(), H5P_DEFAULT) <= 0 || H5Oexists_by_name(file, part.c_str(), H5P_DEFAULT) <= 0))
        return false;
      if (end == absolute.npos) return true;
    }
  }
  H5O_type_t kind(const std::string& absolute) const {
    H5O_info_t info{};
    require(H5Oget_info_by_name(file, absolute.c_str(), &info, H5P_DEFAULT), label(absolute));
    return info.type;
  }
  void require_there(const std::string& absolute) const {
    if (!exists(absolute))
      throw jit::UserError({.what = label(absolute), .expected = "an object of this name", .got = "none"});
  }
  void require_kind(const std::string& absolute, H5O_type_t wanted) const {
    require_there(absolute);
    if (kind(absolute) == wanted) return;
    const bool group = wanted == H5O_TYPE_GROUP;
    throw jit::UserError({.what = label(absolute),
                          .expected = group ? "a group" : "a dataset",
                          .got = group ? "no group" : "no dataset"});
  }
  void require_writing() const {
    if (!writing) throw jit::UserError({.what = "\"" + path + "\"", .expected = "a writer", .got = "a reader"});
  }
  Id dataset(const std::string& absolute) const {
    require_kind(absolute, H5O_TYPE_DATASET);
    return require(Id(H5Dopen2(file, absolute.c_str(), H5P_DEFAULT), H5Dclose), label(absolute));
  }
  Id attribute(const std::string& absolute, const std::string& name) const {
    require_there(absolute);
    if (H5Aexists_by_name(file, absolute.c_str(), name.c_str(), H5P_DEFAULT) <= 0)
      throw jit::UserError(
          {.what = label(absolute), .expected = "an attribute \"" + name + "\"", .got = "none of this name"});
    return require(Id(H5Aopen_by_name(file, absolute.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose),
                   label(absolute));
  }

  /// Unlinks what is there under the name, or says why not.
  void make_way(const std::string& absolute, HDF5Base::writemode mode, H5O_type_t wanted) const {
    require_writing();
    if (!exists(absolute)) return;
    if ((mode & HDF5Base::trunc) == 0)
      throw jit::UserError({.what = label(absolute),
                            .expected = "a new name",
                            .got = "one that is there already",
                            .what_now = "Write with HDF5Base::trunc to replace it"});
    require_kind(absolute, wanted);
    require(H5Ldelete(file, absolute.c_str(), H5P_DEFAULT), label(absolute));
  }
  Id make_dataset(const std::string& absolute, hid_t type, const Extents& extents, HDF5Base::writemode mode) const {
    make_way(absolute, mode, H5O_TYPE_DATASET);
    const Id space = space_of(extents);
    return require(Id(H5Dcreate2(file, absolute.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose),
                   label(absolute));
  }
  Id make_attribute(const std::string& absolute, const std::string& name, hid_t type, const Extents& extents,
                    HDF5Base::writemode mode) const {
    require_writing();
    require_there(absolute);
    if (H5Aexists_by_name(file, absolute.c_str(), name.c_str(), H5P_DEFAULT) > 0) {
      if ((mode & HDF5Base::trunc) == 0)
        throw jit::UserError({.what = label(absolute),
                              .expected = "a new attribute",
                              .got = "\"" + name + "\", which is there already",
                              .what_now = "Write with HDF5Base::trunc to replace it"});
      require(H5Adelete_by_name(file, absolute.c_str(), name.c_str(), H5P_DEFAULT), label(absolute));
    }
    const Id space = space_of(extents);
    return require(
        Id(H5Acreate_by_name(file, absolute.c_str(), name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
           H5Aclose),
        label(absolute) + ", attribute \"" + name + "\"");
  }

  /// A type that stands in the file under this name, made if it does not.
  Id named_type(const std::string& name, const std::function<Id()>& make) const {
    const std::string absolute = "/" + name;
    if (exists(absolute)) return require(Id(H5Topen2(file, absolute.c_str(), H5P_DEFAULT), H5Tclose), label(absolute));
    Id type = make();
    require(H5Tcommit2(file, absolute.c_str(), type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), label(absolute));
    return type;
  }
  Id complex_type(hid_t number) const {
    return named_type(H5Tget_size(number) == 4 ? ".ComplexFloat" : ".ComplexDouble", [&] {
      const std::size_t bytes = H5Tget_size(number);
      Id both(H5Tcreate(H5T_COMPOUND, 2 * bytes), H5Tclose);
      H5Tinsert(both, "r", 0, number);
      H5Tinsert(both, "i", bytes, number);
      return both;
    });
  }
  Id color_matrix_type(hid_t number) const {
    const Id complex = complex_type(number);
    return named_type(H5Tget_size(number) == 4 ? ".ColorMatrixFloat3" : ".ColorMatrixDouble3", [&] {
      const hsize_t extents[] = {3, 3};
      return Id(H5Tarray_create2(complex, 2, extents), H5Tclose);
    });
  }
  Id propagator_type(hid_t number) const {
    const Id matrix = color_matrix_type(number);
    return named_type(H5Tget_size(number) == 4 ? ".PropagatorFloat3" : ".PropagatorDouble3", [&] {
      const hsize_t extents[] = {4, 4};
      return Id(H5Tarray_create2(matrix, 2, extents), H5Tclose);
    });
  }
  /// As QDP++ has it: of these shapes by name, of others a number, of which there are `row` then.
  Id element_type(detail::Shape shape, bool field, bool array, hid_t number, Extents& row, std::size_t count) const {
    const bool is_double = shape.word == detail::Type::f64;
    if (!field && is_complex(shape)) {
      if (array) row = {count};
      return complex_type(number);
    }
    if (is_color_matrix(shape) && (!array || (field && is_double))) {
      if (array && count > 1) row = {count};
      return color_matrix_type(number);
    }
    if (field && !array && is_propagator(shape)) return propagator_type(number);
    const std::size_t all = count * static_cast<std::size_t>(shape.components());
    if (all > 1 || !field) row = {all};
    return {H5Tcopy(number), H5Tclose};
  }
};

namespace {

/// The name from the root on, without empty parts.
std::string absolute_name(const std::string& group, const std::string& name) {
  std::string all;
  const std::string whole = name.starts_with('/') ? name : group + "/" + name;
  for (std::size_t begin = 0; begin < whole.size();) {
    const std::size_t end = std::min(whole.find('/', begin), whole.size());
    if (end > begin) all += "/" + whole.substr(begin, end - begin);
    begin = end + 1;
  }
  return all.empty() ? "/" : all;
}

struct Content {
  Extents extents;
  std::size_t numbers;  ///< in an element
};

/// What a dataset holds if its numbers are of the class.
Content content_of(hid_t dataset, H5T_class_t wanted, const std::string& what) {
  const Id type(H5Dget_type(dataset), H5Tclose), space(H5Dget_space(dataset), H5Sclose);
  const std::size_t numbers = numbers_in(type, wanted);
  if (numbers == 0)
    throw jit::UserError(
        {.what = what,
         .expected = wanted == H5T_FLOAT ? "floating-point numbers, pairs {r, i} or arrays of them" : "integers",
         .got = name_of(type)});
  return {extents_of(space, what), numbers};
}

H5T_class_t class_of(detail::Shape shape) { return is_float(shape.word) ? H5T_FLOAT : H5T_INTEGER; }

/// Throws unless the sites of a lattice come first; numbers at a site.
std::size_t numbers_at_site(const Content& content, const Extents& lattice, const std::string& what) {
  const bool fits =
      content.extents.size() >= lattice.size() && std::equal(lattice.begin(), lattice.end(), content.extents.begin());
  if (!fits)
    throw jit::UserError({.what = what,
                          .expected = "extents " + text_of(lattice) + " of the lattice, and perhaps more",
                          .got = text_of(content.extents)});
  return content.numbers * product(std::span(content.extents).subspan(lattice.size()));
}

}  // namespace

HDF5::HDF5() = default;
HDF5::HDF5(long stripesize, long maxalign) : stripesize_(stripesize), maxalign_(maxalign) {}
HDF5::~HDF5() = default;

bool HDF5::check_exists(const std::string& path) {
  return io::once([&] {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    std::error_code ignored;
    return std::filesystem::is_regular_file(path, ignored) && H5Fis_hdf5(path.c_str()) > 0;
  });
}

void HDF5::open_file(const std::string& path, bool writing, HDF5Base::writemode mode) {
  close();
  io::on_primary([&] {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // errors are exceptions
    std::error_code ignored;
    const bool there = std::filesystem::exists(path, ignored), ours = there && H5Fis_hdf5(path.c_str()) > 0;
    const bool anew = writing && (!there || (mode & HDF5Base::trunc) != 0);
    if (!anew && !ours)
      throw jit::UserError({.what = "\"" + path + "\"",
                            .expected = "a file of HDF5",
                            .got = there ? "another file" : "none of this name",
                            .what_now = writing ? "Write with HDF5Base::trunc to replace it" : ""});
    const Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    if (stripesize_ > 0)
      H5Pset_alignment(access, static_cast<hsize_t>(std::max(maxalign_, 0L)), static_cast<hsize_t>(stripesize_));
    const hid_t id = anew      ? H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access)
                     : writing ? H5Fopen(path.c_str(), H5F_ACC_RDWR, access)
                               : H5Fopen(path.c_str(), H5F_ACC_RDONLY, access);
    file_ = std::make_unique<File>(path, require(Id(id, H5Fclose), "open \"" + path + "\""), writing);
  });
  is_open_ = true;
  group_ = "/";
}

int HDF5::close() {
  if (!std::exchange(is_open_, false)) return 0;
  group_ = "/";
  io::on_primary([&] {
    const auto file = std::move(file_);
    if (file->writing) require(H5Fflush(file->file, H5F_SCOPE_LOCAL), "write \"" + file->path + "\"");
  });
  return 0;
}

void HDF5::require_open(const char* what) const {
  if (!is_open_) throw jit::UserError({.what = what, .expected = "an open file of HDF5", .got = "none"});
}

// ---- groups

std::string HDF5::parentDir() const {
  const std::size_t end = group_.rfind('/');
  return end == 0 ? "/" : group_.substr(0, end);
}

void HDF5::pop() { group_ = parentDir(); }

void HDF5::cd(const std::string& name) { name == ".." ? pop() : enter(name, false); }

void HDF5::enter(const std::string& name, bool create) {
  require_open("group of a file of HDF5");
  const std::string absolute = absolute_name(group_, name);
  io::on_primary([&] {
    if (create && !file_->exists(absolute)) {
      file_->require_writing();
      const Id links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
      H5Pset_create_intermediate_group(links, 1);
      require(Id(H5Gcreate2(file_->file, absolute.c_str(), links, H5P_DEFAULT, H5P_DEFAULT), H5Gclose),
              file_->label(absolute));
    }
    if (absolute != "/") file_->require_kind(absolute, H5O_TYPE_GROUP);
  });
  group_ = absolute;
}

void HDF5Writer::mkdir(const std::string& name) {
  const std::string here = pwd();
  push(name);
  cd(here);
}

// ---- numbers and texts

Hdf5Numbers HDF5::numbers(const std::string& object, const std::string* attribute, Hdf5Word word, std::size_t rank) {
  require_open("reading from a file of HDF5");
  Hdf5Numbers found{word};
  io::on_primary([&] {
    const std::string name = absolute_name(group_, object), what = file_->label(name);
    const Id at = attribute != nullptr ? file_->attribute(name, *attribute) : file_->dataset(name);
    const Id type(attribute != nullptr ? H5Aget_type(at) : H5Dget_type(at), H5Tclose),
        space(attribute != nullptr ? H5Aget_space(at) : H5Dget_space(at), H5Sclose);
    const hid_t wanted = memory_type(word);
    if (H5Tget_class(type) != H5Tget_class(wanted) || H5Tget_size(type) != H5Tget_size(wanted) ||
        (H5Tget_class(type) == H5T_INTEGER && H5Tget_sign(type) != H5Tget_sign(wanted)))
      throw jit::UserError({.what = what + (attribute != nullptr ? ", attribute \"" + *attribute + "\"" : ""),
                            .expected = name_of(wanted),
                            .got = name_of(type)});
    const Extents extents = extents_of(space, what);
    // A row of one is as good as a number.
    if (extents.size() != rank && !(rank == 0 && product(extents) == 1))
      throw jit::UserError({.what = what,
                            .expected = rank == 0   ? "one number"
                                        : rank == 1 ? "a row of numbers"
                                                    : "a table of numbers",
                            .got = text_of(extents)});
    found.extents.assign(extents.begin(), extents.end());
    found.bytes.resize(static_cast<std::size_t>(product(extents)) * H5Tget_size(wanted));
    if (!found.bytes.empty())
      require(attribute != nullptr ? H5Aread(at, wanted, found.bytes.data())
                                   : H5Dread(at, wanted, H5S_ALL, H5S_ALL, H5P_DEFAULT, found.bytes.data()),
              what);
  });
  io::broadcast_all(found.extents, found.bytes);
  return found;
}

void HDF5::write_numbers(const std::string& object, const std::string* attribute, const Hdf5Numbers& numbers,
                         HDF5Base::writemode mode) {
  require_open("writing to a file of HDF5");
  io::on_primary([&] {
    const std::string name = absolute_name(group_, object);
    const hid_t type = memory_type(numbers.word);
    const Extents extents(numbers.extents.begin(), numbers.extents.end());
    const Id at = attribute != nullptr ? file_->make_attribute(name, *attribute, type, extents, mode)
                                       : file_->make_dataset(name, type, extents, mode);
    if (!numbers.bytes.empty())
      require(attribute != nullptr ? H5Awrite(at, type, numbers.bytes.data())
                                   : H5Dwrite(at, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.bytes.data()),
              file_->label(name));
  });
}

std::string HDF5::text(const std::string& object, const std::string* attribute) {
  require_open("reading from a file of HDF5");
  std::string found;
  io::on_primary([&] {
    const std::string name = absolute_name(group_, object), what = file_->label(name);
    const Id at = attribute != nullptr ? file_->attribute(name, *attribute) : file_->dataset(name);
    const Id type(attribute != nullptr ? H5Aget_type(at) : H5Dget_type(at), H5Tclose);
    if (H5Tget_class(type) != H5T_STRING)
      throw jit::UserError({.what = what, .expected = "a text", .got = name_of(type)});
    const auto read = [&](hid_t in, void* to) {
      require(attribute != nullptr ? H5Aread(at, in, to) : H5Dread(at, in, H5S_ALL, H5S_ALL, H5P_DEFAULT, to), what);
    };
    if (H5Tis_variable_str(type) > 0) {
      char* characters = nullptr;
      read(type, &characters);
      if (characters != nullptr) found = characters;
      H5free_memory(characters);
    } else {
      found.resize(H5Tget_size(type));
      read(type, found.data());
      found.resize(std::min(found.find('\0'), found.size()));
    }
  });
  io::broadcast(found);
  return found;
}

void HDF5::write_text(const std::string& object, const std::string* attribute, const std::string& text,
                      HDF5Base::writemode mode) {
  require_open("writing to a file of HDF5");
  io::on_primary([&] {
    const std::string name = absolute_name(group_, object);
    const Id type(H5Tcreate(H5T_STRING, text.size() + 1), H5Tclose);
    H5Tset_cset(type, H5T_CSET_UTF8);
    const Id at = attribute != nullptr ? file_->make_attribute(name, *attribute, type, {}, mode)
                                       : file_->make_dataset(name, type, {}, mode);
    require(attribute != nullptr ? H5Awrite(at, type, text.c_str())
                                 : H5Dwrite(at, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text.c_str()),
            file_->label(name));
  });
}

void HDF5::remove_attributes(const std::string& object, const std::string* name) {
  require_open("removing from a file of HDF5");
  io::on_primary([&] {
    const std::string absolute = absolute_name(group_, object);
    file_->require_writing();
    if (name != nullptr) {
      (void)file_->attribute(absolute, *name);
      require(H5Adelete_by_name(file_->file, absolute.c_str(), name->c_str(), H5P_DEFAULT), file_->label(absolute));
      return;
    }
    file_->require_there(absolute);
    const Id of(H5Oopen(file_->file, absolute.c_str(), H5P_DEFAULT), H5Oclose);
    for (int left = require(H5Aget_num_attrs(of), file_->label(absolute)); left > 0; --left)
      require(H5Adelete_by_idx(of, ".", H5_INDEX_NAME, H5_ITER_INC, 0, H5P_DEFAULT), file_->label(absolute));
  });
}

// ---- scalars

int HDF5::objects_in(const std::string& name, detail::Shape shape, bool lattices) {
  require_open("reading from a file of HDF5");
  const io::SiteGeometry lattice = lattices ? io::lattice_geometry() : io::SiteGeometry{};
  return io::once([&] {
    const std::string absolute = absolute_name(group_, name), what = file_->label(absolute);
    const Content content = content_of(file_->dataset(absolute), class_of(shape), what);
    std::size_t all = content.numbers * product(content.extents);
    if (lattices) all = product(std::span(content.extents)) * content.numbers / lattice.volume();
    const auto each = static_cast<std::size_t>(shape.components());
    if (all % each != 0)
      throw jit::UserError(
          {.what = what,
           .expected = "a multiple of " + std::to_string(each) + " numbers" + (lattices ? " at a site" : ""),
           .got = std::to_string(all)});
    return static_cast<int>(all / each);
  });
}

void HDF5::read_scalars(const std::string& name, const RecordTarget& to) {
  require_open("reading from a file of HDF5");
  const std::size_t wanted = to.count * static_cast<std::size_t>(to.shape.components());
  std::string bytes(to.count * to.shape.bytes(), '\0');
  io::on_primary([&] {
    const std::string absolute = absolute_name(group_, name), what = file_->label(absolute);
    const Id data = file_->dataset(absolute);
    const Content content = content_of(data, class_of(to.shape), what);
    if (const std::size_t numbers = content.numbers * product(content.extents); numbers != wanted)
      throw jit::UserError(
          {.what = what, .expected = std::to_string(wanted) + " numbers", .got = std::to_string(numbers)});
    const Id type(H5Dget_type(data), H5Tclose), memory = in_memory(type, number_of(to.shape, what));
    if (!bytes.empty()) require(H5Dread(data, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()), what);
  });
  io::broadcast(bytes.data(), bytes.size());
  bytes.copy(static_cast<char*>(to.words), bytes.size());
}

void HDF5::write_scalars(const std::string& name, const RecordTarget& from, HDF5Base::writemode mode) {
  require_open("writing to a file of HDF5");
  io::on_primary([&] {
    const std::string absolute = absolute_name(group_, name), what = file_->label(absolute);
    file_->require_writing();
    Extents extents;
    const Id type =
        file_->element_type(from.shape, false, from.array, number_of(from.shape, what), extents, from.count);
    const Id data = file_->make_dataset(absolute, type, extents, mode);
    if (from.count > 0) require(H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, from.words), what);
  });
}

// ---- lattices

void HDF5::read_lattices(const std::string& name, const RecordTarget& to, HDF5Base::accessmode order) {
  require_open("reading from a file of HDF5");
  const io::SiteGeometry lattice = io::lattice_geometry();
  io::FieldSink sink(to.fields, lattice);
  io::on_primary_with(sink, [&] {
    const std::string absolute = absolute_name(group_, name), what = file_->label(absolute);
    const io::Stopwatch watch;
    const Id data = file_->dataset(absolute);
    const Content content = content_of(data, class_of(to.shape), what);
    const Extents sites = extents_in_file(lattice, order);
    const std::size_t numbers = numbers_at_site(content, sites, what),
                      wanted = to.fields.size() * static_cast<std::size_t>(to.shape.components());
    if (numbers != wanted)
      throw jit::UserError(
          {.what = what, .expected = std::to_string(wanted) + " numbers at a site", .got = std::to_string(numbers)});
    const Id type(H5Dget_type(data), H5Tclose), memory = in_memory(type, number_of(to.shape, what)),
                                                file_space(H5Dget_space(data), H5Sclose);
    const std::size_t site_bytes = sink.format().bytes_per_site();
    std::vector<char> words;
    for_each_block(content.extents, sites.size(), io::sites_per_chunk(site_bytes),
                   [&](hsize_t begin, hsize_t count, const Extents& start, const Extents& box) {
                     words.resize(count * site_bytes);
                     const Id space = select(file_space, start, box, what);
                     require(H5Dread(data, memory, space, file_space, H5P_DEFAULT, words.data()), what);
                     sink.put_runs(runs_of(begin, count, order, lattice), words.data());
                   });
    io::log_rate("read", lattice.volume() * site_bytes, "of", file_->path, watch, "");
  });
}

void HDF5::write_lattices(const std::string& name, const RecordTarget& from, HDF5Base::writemode mode,
                          HDF5Base::accessmode order) {
  require_open("writing to a file of HDF5");
  const io::SiteGeometry lattice = io::lattice_geometry();
  io::FieldSource source(from.fields, lattice);
  io::on_primary_with(source, [&] {
    const std::string absolute = absolute_name(group_, name), what = file_->label(absolute);
    const io::Stopwatch watch;
    file_->require_writing();
    Extents extents = extents_in_file(lattice, order), row;
    const std::size_t dims = extents.size(), site_bytes = source.format().bytes_per_site();
    const Id type =
        file_->element_type(from.shape, true, from.array, number_of(from.shape, what), row, from.fields.size());
    extents.insert(extents.end(), row.begin(), row.end());
    jit::require_free_space(file_->path, lattice.volume() * site_bytes);
    const Id data = file_->make_dataset(absolute, type, extents, mode), file_space(H5Dget_space(data), H5Sclose);
    std::vector<char> words;
    for_each_block(extents, dims, io::sites_per_chunk(site_bytes),
                   [&](hsize_t begin, hsize_t count, const Extents& start, const Extents& box) {
                     words.resize(count * site_bytes);
                     source.get_runs(runs_of(begin, count, order, lattice), words.data());
                     const Id space = select(file_space, start, box, what);
                     require(H5Dwrite(data, type, space, file_space, H5P_DEFAULT, words.data()), what);
                   });
    io::log_rate("wrote", lattice.volume() * site_bytes, "to", file_->path, watch, "");
  });
}

void HDF5::remove(const std::string& name, HDF5Base::writemode mode) {
  require_open("removing from a file of HDF5");
  io::on_primary([&] { file_->make_way(absolute_name(group_, name), mode, H5O_TYPE_GROUP); });
}

// ---- Qlua

void HDF5::readQlua(const std::string& name, multi1d<LatticeColorMatrixD3>& u) {
  u.resize(Nd);
  for (int mu = 0; mu < Nd; ++mu) read(name + "/" + std::to_string(mu), u[mu], HDF5Base::maintain_order);
}

void HDF5Writer::writeQlua(const std::string& name, const multi1d<LatticeColorMatrixD3>& u,
                           const HDF5Base::writemode& mode) {
  if (u.size() != Nd)
    throw jit::UserError({.what = "HDF5Writer::writeQlua",
                          .expected = std::to_string(Nd) + " directions of links",
                          .got = std::to_string(u.size())});
  const std::string here = pwd();
  remove(name, mode);
  push(name);
  for (int mu = 0; mu < Nd; ++mu) {
    const std::string number = std::to_string(mu);
    write_lattices(number, detail::source(u[mu]), HDF5Base::ate, HDF5Base::maintain_order);
    writeAttribute(number, ".kind", std::string("LatticeColorMatrix"));
  }
  cd(here);
}

}  // namespace QDP

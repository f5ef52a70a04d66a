#pragma once
// Fields in several files, NAME.vol0000, NAME.vol0004 ...: QIO's volume formats MULTIFILE (one of each node) and PARTFILE (one of
// each node that does input and output). Internal to this folder.
//
// Each file is LIME and begins with the list of its sites (site_list.hpp). The first has what the file of a single one has, data of
// its own sites only, and the checksums of all; the others have nothing but data, a record for each field or box of the first.

#include "qdp/io/lime.hpp"
#include "qdp/io/site_list.hpp"
#include "qdp/io/site_stream.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace QDP::io {

inline constexpr char kSiteListRecord[] = "scidac-sitelist";

/// The file of this name, or NAME.vol0000 if only that is there.
std::string first_volume(const std::string& path);
/// NAME.vol0012
std::string volume_name(const std::string& path, int number);

/// As <volfmt> says it.
enum class VolumeFormat { single = 0, nodes = 1, parts = 2 };
/// A file to be written.
struct Volume {
  int number;  ///< in its name
  SiteList sites;
};
struct Volumes {
  VolumeFormat format = VolumeFormat::single;
  std::vector<Volume> files = {};  ///< each site is in one of them; the first has number 0. None: a single one
};
/// Throws jit::UserError if there are files that would be taken for some of the set: of its name, or with other numbers.
void require_no_other_volumes(const std::string& path, const std::vector<Volume>& files);
/// If there is one. Throws jit::FileError.
void remove_volume(const std::string& file);
/// As QIO: 32 bits each where that is enough.
void write_site_list(LimeWriter& lime, const SiteList& sites, LimePosition position);

/// All but the first of a set.
class OtherVolumes {
 public:
  /// Finds and opens the files beside the first one. Throws jit::UserError unless all of them together have each site of the
  /// lattice once, and the others a record of data for each of the `fields` of the first.
  OtherVolumes(const LimeReader& first, const LimeRecord& list, const SiteGeometry& geometry, std::size_t fields);

  /// Where the data of some sites lie.
  struct Part {
    const LimeReader* lime;
    const LimeRecord* data;
    SiteList sites;
  };
  /// Of field or box number `field`, those of the first file first.
  std::vector<Part> parts(const LimeReader& first, const LimeRecord& data, std::size_t field) const;

 private:
  struct Volume {
    LimeReader lime;
    LimeRecord list;
    std::vector<LimeRecord> data;
  };
  SiteList sites_of(const LimeReader& lime, const LimeRecord& list) const;
  void check_sites(const LimeReader& first, const SiteGeometry& geometry) const;

  LimeRecord list_of_first_;
  std::vector<Volume> volumes_;
  std::size_t bytes_each_ = 0;  ///< of the numbers of sites
};

}  // namespace QDP::io

// Tasks on named objects: reading and writing files, listing, erasing; and setting the random number generator.

#include "lib/gauge/su3.hpp"
#include "lib/io/gauge_init.hpp"
#include "lib/io/seed.hpp"
#include "lib/meas/measurement.hpp"

namespace qcd {

using namespace QDP;

namespace {

std::string text_of(const XMLReader& xml) {
  std::ostringstream text;
  xml.printCurrentContext(text);
  return text.str();
}

XMLBufferWriter as_writer(const std::string& xml) {
  XMLBufferWriter writer;
  writer.writeXML(xml);
  return writer;
}

/// How a type of object goes to and comes from a SciDAC file. The precisions of the file are F, D, or the program's.
struct ObjectFile {
  std::string object_type;  ///< in inputs
  std::string kept_as;      ///< type of the named object
  std::function<void(NamedObjects&, const std::string& id, const std::string& file, ChecksumRule, const Log&)> read;
  std::function<void(const NamedObjects&, const std::string& id, const std::string& file, QDP_volfmt_t)> write;
};

template <class T>
void prepare(T&) {}
template <class Site>
void prepare(multi1d<OLattice<Site>>& field) {
  field.resize(Nd);
}

template <class To, class From>
void convert(To& to, const From& from) {
  to = from;
}
template <class To, class From>
void convert(multi1d<To>& to, const multi1d<From>& from) {
  to.resize(from.size());
  for (int i = 0; i < from.size(); ++i) to[i] = from[i];
}

/// Object is what the program keeps, InFile what the file holds.
template <class Object, class InFile>
ObjectFile object_file(const std::string& suffix) {
  return {ObjectType<Object>::name + suffix, ObjectType<Object>::name,
          [](NamedObjects& objects, const std::string& id, const std::string& name, ChecksumRule rule, const Log& log) {
            InFile from;
            prepare(from);
            XMLReader file_xml, record_xml;
            QDPFileReader file(file_xml, name, QDPIO_SERIAL);
            read(file, record_xml, from);
            apply_checksum_rule(rule, file, name);
            log.write("checksum", file.verdict());
            close(file);
            Object object;
            convert(object, from);
            objects.create(id, std::move(object), {text_of(file_xml), text_of(record_xml)});
          },
          [](const NamedObjects& objects, const std::string& id, const std::string& name, QDP_volfmt_t format) {
            InFile to;
            convert(to, objects.get<Object>(id));
            const ObjectRecord& record = objects.record(id);
            XMLBufferWriter file_xml = as_writer(record.file_xml), record_xml = as_writer(record.record_xml);
            QDPFileWriter file(file_xml, name, format, QDPIO_SERIAL, QDPIO_OPEN);
            write(file, record_xml, to);
            if (file.bad()) throw InputError(name + ": writing the object " + id + " failed");
            close(file);
          }};
}

const std::vector<ObjectFile>& object_files() {
  static const std::vector<ObjectFile> files = {
      object_file<GaugeField, GaugeField>(""),
      object_file<GaugeField, multi1d<LatticeColorMatrixF>>("F"),
      object_file<GaugeField, multi1d<LatticeColorMatrixD>>("D"),
      object_file<LatticeColorMatrix, LatticeColorMatrix>(""),
      object_file<LatticePropagator, LatticePropagator>(""),
      object_file<LatticePropagator, LatticePropagatorF>("F"),
      object_file<LatticePropagator, LatticePropagatorD>("D"),
      object_file<LatticeStaggeredPropagator, LatticeStaggeredPropagator>(""),
      object_file<LatticeStaggeredPropagator, LatticeStaggeredPropagatorF>("F"),
      object_file<LatticeStaggeredPropagator, LatticeStaggeredPropagatorD>("D"),
  };
  return files;
}

/// The row that the element object_type names; nullptr after recording an error.
const ObjectFile* find_object_file(const Input& object) {
  const std::string type = object.word("object_type");
  std::string valid = "a type of object, one of";
  for (const ObjectFile& file : object_files()) {
    if (file.object_type == type) return &file;
    valid += ' ' + file.object_type;
  }
  if (!type.empty()) object.error("object_type", valid, type);
  return nullptr;
}

void write_ids(const Log& log, unsigned long update_no, const std::string& id) {
  log.write("update_no", update_no);
  log.write("object_id", id);
}

class ReadObject : public Measurement {
 public:
  ReadObject(const Input& input, ObjectPlan& plan) {
    const Input object = input.group("NamedObject");
    type_ = find_object_file(object);
    if (type_) id_ = plan.makes(object, "object_id", type_->kept_as);
    const Input file = input.group("File");
    file_ = plan.reads_file(file, "file_name");
    rule_ = read_checksum_rule(file);
  }
  void measure(unsigned long update_no, NamedObjects& objects, const Log& log) override {
    const auto group = log.group("qio_read_named_obj");
    write_ids(log, update_no, id_);
    type_->read(objects, id_, file_, rule_, log);
  }

 private:
  const ObjectFile* type_ = nullptr;
  std::string id_, file_;
  ChecksumRule rule_ = ChecksumRule::if_there;
};

/// With `erase`, the object is gone afterwards.
class WriteObject : public Measurement {
 public:
  WriteObject(const Input& input, ObjectPlan& plan, bool erase) : erase_(erase) {
    const Input object = input.group("NamedObject"), file = input.group("File");
    type_ = find_object_file(object);
    if (type_) id_ = plan.uses(object, "object_id", type_->kept_as);
    if (erase_) plan.erases(object, "object_id");
    file_ = plan.writes_file(file, "file_name");
    const std::string format = file.word("file_volfmt");
    if (format == "MULTIFILE")
      format_ = QDPIO_MULTIFILE;
    else if (format == "PARTFILE")
      format_ = QDPIO_PARTFILE;
    else if (!format.empty() && format != "SINGLEFILE")
      file.error("file_volfmt", "SINGLEFILE, MULTIFILE or PARTFILE", format);
  }
  void measure(unsigned long update_no, NamedObjects& objects, const Log& log) override {
    const auto group = log.group(erase_ ? "qio_write_erase_named_obj" : "qio_write_named_obj");
    write_ids(log, update_no, id_);
    type_->write(objects, id_, file_, format_);
    if (erase_) objects.erase(id_);
  }

 private:
  bool erase_;
  const ObjectFile* type_ = nullptr;
  std::string id_, file_;
  QDP_volfmt_t format_ = QDPIO_SINGLEFILE;
};

MeasurementTable::Row write_row(std::string name, bool erase, std::string schema) {
  return {std::move(name), std::move(schema), [erase](const Input& input, ObjectPlan& plan) {
            return std::unique_ptr<Measurement>(std::make_unique<WriteObject>(input, plan, erase));
          }};
}

class ReadNersc : public Measurement {
 public:
  ReadNersc(const Input& input, ObjectPlan& plan) {
    id_ = plan.makes<GaugeField>(input.group("NamedObject"), "object_id");
    const Input file = input.group("File");
    file_ = plan.reads_file(file, "file_name");
    on_damage_ = read_checksum_rule(file) == ChecksumRule::ignored ? OnDamage::read : OnDamage::refuse;
  }
  void measure(unsigned long update_no, NamedObjects& objects, const Log& log) override {
    const auto group = log.group("nersc_read_named_obj");
    write_ids(log, update_no, id_);
    GaugeField u(Nd);
    XMLReader header;
    log.write("checksum", readArchiv(header, u, file_, on_damage_));
    log.write("reunitarized_links", static_cast<int>(reunitarize(u)));
    objects.create(id_, std::move(u), {"<NERSC/>", text_of(header)});
  }

 private:
  std::string id_, file_;
  OnDamage on_damage_ = OnDamage::refuse;
};

class WriteNersc : public Measurement {
 public:
  WriteNersc(const Input& input, ObjectPlan& plan) {
    id_ = plan.uses<GaugeField>(input.group("NamedObject"), "object_id");
    file_ = plan.writes_file(input.group("File"), "file_name");
  }
  void measure(unsigned long update_no, NamedObjects& objects, const Log& log) override {
    const auto group = log.group("nersc_write_named_obj");
    write_ids(log, update_no, id_);
    writeArchiv(objects.get<GaugeField>(id_), file_);
  }

 private:
  std::string id_, file_;
};

class EraseObject : public Measurement {
 public:
  EraseObject(const Input& input, ObjectPlan& plan) : id_(plan.erases(input.group("NamedObject"), "object_id")) {}
  void measure(unsigned long update_no, NamedObjects& objects, const Log& log) override {
    const auto group = log.group("erase_named_obj");
    write_ids(log, update_no, id_);
    objects.erase(id_);
  }

 private:
  std::string id_;
};

class ListObjects : public Measurement {
 public:
  ListObjects(const Input&, ObjectPlan&) {}
  void measure(unsigned long update_no, NamedObjects& objects, const Log& log) override {
    const auto group = log.group("list_named_obj");
    log.write("update_no", update_no);
    for (const std::string& id : objects.ids()) {
      const auto elem = log.group("elem");
      log.write("object_id", id);
      log.write("object_type", objects.type(id));
    }
  }
};

class SetGenerator : public Measurement {
 public:
  SetGenerator(const Input& input, ObjectPlan&) : seed_(read_seed(input.group("RNG"))) {}
  void measure(unsigned long update_no, NamedObjects&, const Log& log) override {
    const auto group = log.group("SetRNG");
    log.write("update_no", update_no);
    const Seed seed = make_seed(seed_);
    RNG::setrn(seed);
    log.write("RNG", seed);
  }

 private:
  std::array<int, 4> seed_;
};

}  // namespace

MeasurementRows object_measurements() {
  std::string types;
  for (const ObjectFile& file : object_files()) types += (types.empty() ? "" : ", ") + file.object_type;
  return {
      measurement_row<ReadObject>(
          "QIO_READ_NAMED_OBJECT",
          "NamedObject{object_id, object_type}, File{file_name, [verify_checksum]}: a SciDAC file "
          "becomes an object; object_type is one of " +
              types),
      write_row("QIO_WRITE_NAMED_OBJECT", false, "NamedObject{object_id, object_type}, File{file_name, file_volfmt}"),
      write_row("QIO_WRITE_ERASE_NAMED_OBJECT", true, "the same, and erases the object"),
      measurement_row<ReadNersc>("NERSC_READ_NAMED_OBJECT",
                                 "NamedObject{object_id}, File{file_name, [verify_checksum = true]}: a NERSC archive"),
      measurement_row<WriteNersc>("NERSC_WRITE_NAMED_OBJECT", "NamedObject{object_id}, File{file_name}"),
      measurement_row<EraseObject>("ERASE_NAMED_OBJECT", "NamedObject{object_id}"),
      measurement_row<ListObjects>("LIST_NAMED_OBJECT", "no elements: what objects there are"),
      measurement_row<SetGenerator>("SET_RNG", "RNG{Seed{elem elem elem elem}}: the seed for what follows"),
  };
}

}  // namespace qcd

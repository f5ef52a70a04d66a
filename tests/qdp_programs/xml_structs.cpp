// Parameters as structs with readers and writers: nested, in arrays, optional groups, containers of the standard library; the input copied as it is.
#include <list>
#include <map>
#include <vector>

#include "qdp.h"
using namespace QDP;

namespace Params {

struct Boundary {
  multi1d<int> signs;
  bool twisted;
};

struct Term {
  std::string id;
  Real mass;
  Complex z;
  multi1d<Real> poles;
};

struct Input {
  int version;
  std::string comment;
  Boundary boundary;
  multi1d<Term> terms;
  std::vector<int> weights;
  std::list<int> list;
  std::map<std::string, int> counts;
  std::pair<int, std::string> pair;
  unsigned long big;
  Seed seed;
};

void read(XMLReader& xml, const std::string& path, Boundary& b) {
  XMLReader top(xml, path);
  read(top, "signs", b.signs);
  b.twisted = false;
  if (top.count("twisted") > 0) read(top, "twisted", b.twisted);
}

void write(XMLWriter& xml, const std::string& path, const Boundary& b) {
  push(xml, path);
  write(xml, "signs", b.signs);
  write(xml, "twisted", b.twisted);
  pop(xml);
}

void read(XMLReader& xml, const std::string& path, Term& t) {
  XMLReader top(xml, path);
  read(top, "id", t.id);
  read(top, "mass", t.mass);
  read(top, "z", t.z);
  read(top, "poles", t.poles);
}

void write(XMLWriter& xml, const std::string& path, const Term& t) {
  push(xml, path);
  write(xml, "id", t.id);
  write(xml, "mass", t.mass);
  write(xml, "z", t.z);
  write(xml, "poles", t.poles);
  pop(xml);
}

}  // namespace Params

namespace {

const char* const kDocument =
    "<?xml version='1.0'?>\n<app>\n <!-- comment -->\n <Param>\n  <version> 7 </version>\n"
    "  <comment>  a 'b' \"c\" #{d} </comment>\n"
    "  <boundary><signs>1 1 1 -1</signs></boundary>\n"
    "  <terms>\n   <elem><id>light</id><mass>-0.0625</mass><z><re>1</re><im>-2.5e-3</im></z><poles>0.1 0.2 0.3</poles></elem>\n"
    "   <elem><id>heavy</id><mass>1e+2</mass><z><re>0</re><im>0</im></z><poles></poles></elem>\n  </terms>\n"
    "  <weights>1 -5 25</weights><list>3 2 1</list>\n"
    "  <counts><elem><Key>b</Key><Val>2</Val></elem><elem><Key>a</Key><Val>1</Val></elem></counts>\n"
    "  <pair><First>-3</First><Second>three</Second></pair>\n"
    "  <big>4294967299</big>\n"
    "  <seed><Seed><elem>11</elem><elem>12</elem><elem>13</elem><elem>0</elem></Seed></seed>\n"
    " </Param>\n</app>\n";

}  // namespace

int main(int argc, char** argv) {
  QDP_initialize(&argc, &argv);
  multi1d<int> nrow(Nd);
  nrow = 2;
  Layout::setLattSize(nrow);
  Layout::create();
  using namespace Params;
  try {
    std::istringstream text(kDocument);
    XMLReader xml_in(text);
    XMLReader param(xml_in, "/app/Param");
    Input in;
    read(param, "version", in.version);
    read(param, "comment", in.comment);
    read(param, "boundary", in.boundary);
    read(param, "terms", in.terms);
    read(param, "weights", in.weights);
    read(param, "list", in.list);
    read(param, "counts", in.counts);
    read(param, "pair", in.pair);
    read(param, "big", in.big);
    read(param, "seed", in.seed);
    QDPIO::cout << in.version << " [" << in.comment << "] " << in.boundary.twisted << " " << in.terms.size() << " "
                << in.terms[0].poles.size() << in.terms[1].poles.size() << " " << in.weights[2] << " " << in.list.size()
                << " " << in.counts["b"] << " " << in.pair.first << in.pair.second << " " << in.big << std::endl;
    QDPIO::cout << "seed " << in.seed << std::endl;

    XMLFileWriter out("params.xml");
    push(out, "app");
    write(out, "version", in.version);
    write(out, "comment", in.comment);
    write(out, "boundary", in.boundary);
    write(out, "terms", in.terms);
    write(out, "weights", in.weights);
    write(out, "list", in.list);
    write(out, "counts", in.counts);
    write(out, "pair", in.pair);
    write(out, "big", in.big);
    write(out, "seed", in.seed);
    multi1d<Term> no_terms;
    multi1d<int> no_numbers;
    write(out, "no_terms", no_terms);
    write(out, "no_numbers", no_numbers);
    write(out, "as_read", xml_in);
    pop(out);
    out.close();

    XMLReader again("params.xml");
    multi1d<Term> terms;
    read(again, "/app/terms", terms);
    QDPIO::cout << again.count("/app/*") << " elements, " << again.count("//elem") << " elem, " << terms[1].id << " "
                << terms[0].z << std::endl;
    Input second;
    read(again, "/app/comment", second.comment);
    read(again, "/app/counts", second.counts);
    QDPIO::cout << (second.comment == in.comment) << " " << second.counts.begin()->first << std::endl;
  } catch (const std::string& e) {
    QDPIO::cout << "caught: " << e << std::endl;
  }

  QDP_finalize();
  return 0;
}

// Command-line flags, and what a program does about wrong input: missing paths, wrong words, elements that are there twice.
#include "qdp.h"
using namespace QDP;

namespace {

struct Params {
  int n;
  Real mass;
  std::string name;
};

void read(XMLReader& xml, const std::string& path, Params& p) {
  XMLReader top(xml, path);
  read(top, "n", p.n);
  if (top.count("mass") == 1)
    read(top, "mass", p.mass);
  else
    p.mass = -1;
  try {
    read(top, "name", p.name);
  } catch (const std::string&) {
    p.name = "unnamed";
  }
}

template <typename T>
void attempt(const char* what, XMLReader& xml, const std::string& path) {
  T x;
  try {
    read(xml, path, x);
    QDPIO::cout << what << ": read" << std::endl;
  } catch (const std::string& e) {
    QDPIO::cout << what << ": caught a string, empty " << e.empty() << std::endl;
  } catch (...) {
    QDPIO::cout << what << ": caught something else" << std::endl;
  }
}

}  // namespace

int main(int, char** argv) {
  // As from a command line with flags of the library and of the program.
  std::vector<std::string> words;
  words.push_back(argv[0]);
  const char* const flags[] = {"-i", "input.xml", "-o", "output.xml", "-geom", "1", "1", "1", "1"};
  words.insert(words.end(), flags, flags + 9);
  std::vector<char*> pointers;
  for (size_t i = 0; i < words.size(); ++i) pointers.push_back(&words[i][0]);
  pointers.push_back(0);
  int count = int(words.size());
  char** list = &pointers[0];
  const bool before = QDP_isInitialized();
  QDP_initialize(&count, &list);
  QDPIO::cout << before << QDP_isInitialized() << " " << list[1] << " " << list[2] << std::endl;
  multi1d<int> nrow(Nd);
  nrow = 2;
  Layout::setLattSize(nrow);
  Layout::create();

  std::istringstream text(
      "<in><good><n>3</n><mass>0.5</mass><name>a b</name></good><bare><n> 4 </n></bare><words>one two</words>"
      "<twice>1</twice><twice>2</twice><empty/><list>1 2 x</list><flag>maybe</flag></in>");
  XMLReader xml(text);
  Params p;
  read(xml, "/in/good", p);
  QDPIO::cout << p.n << " " << p.mass << " " << p.name << std::endl;
  read(xml, "/in/bare", p);
  QDPIO::cout << p.n << " " << p.mass << " " << p.name << std::endl;
  attempt<int>("no such path", xml, "/in/nothing");
  attempt<int>("a word for a number", xml, "/in/words");
  attempt<double>("two of them", xml, "/in/twice");
  attempt<int>("one of them", xml, "/in/twice[2]");
  attempt<int>("an empty element", xml, "/in/empty");
  attempt<std::string>("an empty string", xml, "/in/empty");
  attempt<bool>("no flag", xml, "/in/flag");
  attempt<Real>("a real", xml, "/in/good/n");
  QDPIO::cout << xml.count("/in/twice") << xml.count("/in/nothing") << xml.count("//n") << xml.is_open() << std::endl;

  try {
    throw std::string("of the program");
  } catch (const std::string& e) {
    QDPIO::cerr << e << std::endl;
    QDPIO::cout << e << std::endl;
  }
  // The reader is as before.
  read(xml, "/in/good/n", p.n);
  QDPIO::cout << p.n << std::endl;

  QDP_finalize();
  return 0;
}

// Maps from keys of the program to values of the program: in memory and on disk, through the base class.
#include <algorithm>
#include <vector>

#include "qdp.h"
#include "qdp_map_obj_disk.h"
#include "qdp_map_obj_memory.h"
using namespace QDP;

namespace {

struct Key {
  int colour;
  int time;
  std::string name;
};

bool operator<(const Key& a, const Key& b) {
  return a.name != b.name ? a.name < b.name : a.colour != b.colour ? a.colour < b.colour : a.time < b.time;
}

void read(BinaryReader& bin, Key& k) {
  QDP::read(bin, k.colour);
  QDP::read(bin, k.time);
  QDP::read(bin, k.name, 100);
}

void write(BinaryWriter& bin, const Key& k) {
  QDP::write(bin, k.colour);
  QDP::write(bin, k.time);
  QDP::write(bin, k.name);
}

template <typename V>
void list(const MapObject<Key, V>& map) {
  std::vector<Key> keys;
  map.keys(keys);
  std::sort(keys.begin(), keys.end());
  QDPIO::cout << map.size() << " entries:";
  for (size_t i = 0; i < keys.size(); ++i)
    QDPIO::cout << " (" << keys[i].colour << "," << keys[i].time << "," << keys[i].name << ")";
  QDPIO::cout << std::endl;
}

template <typename V>
V at(MapObject<Key, V>& map, const Key& k) {
  V v;
  const int status = map.get(k, v);
  if (status != 0) QDPIO::cout << "no such key" << std::endl;
  return v;
}

}  // namespace

int main(int argc, char** argv) {
  QDP_initialize(&argc, &argv);
  multi1d<int> nrow(Nd);
  nrow = 2;
  Layout::setLattSize(nrow);
  Layout::create();

  LatticeFermion psi[2];
  random(psi[0]);
  random(psi[1]);
  const Key a = {0, 3, "up"}, b = {2, -1, "down"}, c = {1, 1, ""};

  MapObjectMemory<Key, LatticeFermion> memory;
  memory.insert(a, psi[0]);
  memory.insert(b, psi[1]);
  memory.insert(a, psi[1]);
  memory.insertUserdata("about <memory>");
  std::string about;
  memory.getUserdata(about);
  list(memory);
  QDPIO::cout << memory.exist(a) << memory.exist(c) << " " << about << " " << norm2(at(memory, a) - psi[1])
              << std::endl;
  memory.erase(b);
  list(memory);
  MapObjectMemory<Key, double> small;
  small.insert(std::make_pair(c, 1.25));
  for (MapObjectMemory<Key, double>::const_iterator i = small.begin(); i != small.end(); ++i)
    QDPIO::cout << i->first.colour << " " << i->second << std::endl;
  small.clear();
  QDPIO::cout << small.size() << std::endl;

  {
    MapObjectDisk<Key, LatticeFermion> disk;
    disk.insertUserdata("about the disk");
    disk.open("fermions.mod", std::ios_base::in | std::ios_base::out | std::ios_base::trunc);
    disk.insert(a, psi[0]);
    disk.insert(b, psi[1]);
    QDPIO::cout << norm2(at(disk, b) - psi[1]) << std::endl;
    disk.flush();
  }
  MapObjectDisk<Key, LatticeFermion> again;
  QDPIO::cout << again.fileExists("fermions.mod") << again.fileExists("nothing.mod") << std::endl;
  again.open("fermions.mod", std::ios_base::in | std::ios_base::out);
  again.getUserdata(about);
  list(again);
  again.insert(c, LatticeFermion(psi[0] + psi[1]));
  again.insert(a, LatticeFermion(2.0 * psi[0]));
  QDPIO::cout << about << " " << again.exist(c) << " " << norm2(at(again, c) - psi[0] - psi[1]) << " "
              << norm2(at(again, a) - 2.0 * psi[0]) << std::endl;
  again.close();

  MapObjectDisk<int, multi1d<double>> arrays;
  arrays.open("arrays.mod", std::ios_base::out | std::ios_base::trunc);
  for (int i = 3; i >= 0; --i) {
    multi1d<double> x(i);
    x = 0.5 * i;
    arrays.insert(i, x);
  }
  arrays.close();
  MapObjectDisk<int, multi1d<double>> reader;
  reader.open("arrays.mod", std::ios_base::in);
  multi1d<double> x;
  for (int i = 0; i < 5; ++i)
    if (reader.get(i, x) == 0)
      QDPIO::cout << i << ": " << x.size() << " " << (x.size() > 0 ? x[x.size() - 1] : -1) << std::endl;
    else
      QDPIO::cout << i << ": not there" << std::endl;

  QDP_finalize();
  return 0;
}

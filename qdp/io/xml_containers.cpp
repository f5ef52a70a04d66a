#include "qdp/io/xml_containers.hpp"

namespace QDP {

template void read(XMLReader&, const std::string&, multi1d<bool>&);
template void read(XMLReader&, const std::string&, multi1d<int>&);
template void read(XMLReader&, const std::string&, multi1d<float>&);
template void read(XMLReader&, const std::string&, multi1d<double>&);
template void read(XMLReader&, const std::string&, std::vector<int>&);
template void read(XMLReader&, const std::string&, std::vector<float>&);
template void read(XMLReader&, const std::string&, std::vector<double>&);
template void write(XMLWriter&, const std::string&, const multi1d<bool>&);
template void write(XMLWriter&, const std::string&, const multi1d<int>&);
template void write(XMLWriter&, const std::string&, const multi1d<float>&);
template void write(XMLWriter&, const std::string&, const multi1d<double>&);
template void write(XMLWriter&, const std::string&, const std::vector<int>&);
template void write(XMLWriter&, const std::string&, const std::vector<float>&);
template void write(XMLWriter&, const std::string&, const std::vector<double>&);

}  // namespace QDP

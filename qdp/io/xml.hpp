// Everything of XML input and output.
#pragma once

#include "qdp/io/xml_array_writer.hpp"
#include "qdp/io/xml_containers.hpp"
#include "qdp/io/xml_reader.hpp"
#include "qdp/io/xml_writer.hpp"

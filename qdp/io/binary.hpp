// Everything of binary input and output.
#pragma once

#include "qdp/io/binary_containers.hpp"
#include "qdp/io/binary_reader.hpp"
#include "qdp/io/binary_reader_writer.hpp"
#include "qdp/io/binary_writer.hpp"

// Everything of text input and output.
#pragma once

#include "qdp/io/text_reader.hpp"
#include "qdp/io/text_writer.hpp"

// QDP++ has a file of this name: what it says while a program is compiled. Here nothing.
#pragma once

#define QDPXX_MESSAGE_I(text)
#define QDPXX_MESSAGE(text)

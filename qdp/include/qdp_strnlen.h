// QDP++ has a file of this name, for systems without strnlen.
#pragma once

#include <cstring>

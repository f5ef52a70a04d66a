// The lattice of this run: extents, sites of this rank, and the order they are stored in on the host and on the device.
//
//   multi1d<int> nrow(Nd); nrow = 8;
//   Layout::setLattSize(nrow);
//   Layout::create();
//
// create() may be called again in one process; what was made before goes on to live on its own lattice (lattice.hpp). All
// of this speaks of the present one: that of the innermost Layout::Scope, otherwise the last that was created.
#pragma once

#include "qdp/layout/lattice.hpp"
#include "qdp/util/multi.hpp"

#include <cstddef>
#include <memory>

namespace QDP {

namespace Layout {

// ---- creation

/// Sets the extents that the next create() takes.
void setLattSize(const multi1d<int>& nrows);
/// Sets the grid of ranks that create() takes, as -geom does; otherwise it chooses one. Throws jit::UserError unless it has
/// as many places as the job has ranks.
void setLogicalSize(const multi1d<int>& ranks);
/// Makes the lattice and sets the random seed to 11.
/// Throws jit::UserError for a wrong number of extents, extents < 1, more sites than a rank can number, or ranks that
/// cannot share it out in equal boxes. Collective.
void create();
/// Forgets the lattice; it lives on while a field, a set or a map needs it.
void destroy();
/// No effect: kept for programs that call them.
void init();
void setSMPFlag(bool flag);
/// Throws jit::UserError if the job has another number of ranks.
void setNumProc(int n);

// ---- extents. Except for lattSize() everything below throws jit::UserError before create().

/// Extents of the lattice, as set last.
const multi1d<int>& lattSize();
/// Extents of the part on one rank.
const multi1d<int>& subgridLattSize();
/// Extents of the grid of ranks.
const multi1d<int>& logicalSize();
/// Sites of the whole lattice.
std::size_t vol();
/// Sites on this rank.
int sitesOnNode();

// ---- ranks

int numNodes();
int nodeNumber();
bool primaryNode();
/// Rank that holds a site.
int nodeNumber(const multi1d<int>& coord);
/// Coordinates of this rank, and of the rank that holds a site, in the grid of ranks.
const multi1d<int>& nodeCoord();
multi1d<int> nodeCoord(const multi1d<int>& coord);
int getNodeNumberFrom(const multi1d<int>& node_coord);
multi1d<int> getLogicalCoordFrom(int node);

// ---- sites. Indices are those of the host order (geometry.hpp).

int linearSiteIndex(const multi1d<int>& coord);
/// Index of the site with this lexicographic number, x fastest.
int linearSiteIndex(int lexicosite);
multi1d<int> siteCoords(int node, int index);
/// Coordinates of a lexicographic number in the part of one rank.
multi1d<int> localLexiCoordFromLinear(const int& linearr);

extern "C" {
void QDPXX_getSiteCoords(int coord[], int node, int linear);
int QDPXX_getLinearSiteIndex(const int coord[]);
int QDPXX_nodeNumber(const int coord[]);
}

// ---- ranks that do input and output: of each block of ranks the first, if files are written in parts (QDPIO_PARTFILE). Without a grid of
// blocks each rank is one.

bool isIOGridDefined();
/// How many blocks there are in each direction; no more are made than fit. On one rank it stays 1. Throws jit::UserError below 1.
void setIONodeGrid(const multi1d<int>& io_grid);
const multi1d<int>& getIONodeGrid();
int numIONodeGrid();

}  // namespace Layout

/// Coordinates of a lexicographic number, first direction fastest, in a box of these extents; and the reverse.
/// Throw jit::UserError for a number or coordinate outside the box.
multi1d<int> crtesn(int ipos, const multi1d<int>& latt_size);
int local_site(const multi1d<int>& coord, const multi1d<int>& latt_size);
/// The numbers of a list, each once, in the order in which they come first.
multi1d<int> uniquify_list(const multi1d<int>& list);

namespace detail {

/// The present lattice. Throws jit::UserError, naming `what`, if there is none.
const std::shared_ptr<const LatticeState>& present_lattice(const char* what);

/// Coordinate mu of every site as a field of i32: on a GPU it crosses once. Not to be written.
std::shared_ptr<jit::Field> coordinate_field(const LatticeState& lattice, int mu);

}  // namespace detail

}  // namespace QDP

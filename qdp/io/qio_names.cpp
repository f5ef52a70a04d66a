#include "qdp/io/qio_names.hpp"

namespace QDP {

template <> char* QIOStringTraits<float>::tprec = const_cast<char*>("F");
template <> char* QIOStringTraits<double>::tprec = const_cast<char*>("D");
template <> char* QIOStringTraits<int>::tprec = const_cast<char*>("I");
template <> char* QIOStringTraits<multi1d<LatticeColorMatrixF3>>::tname = const_cast<char*>("QDP_F3_ColorMatrix");
template <> char* QIOStringTraits<multi1d<LatticeColorMatrixD3>>::tname = const_cast<char*>("QDP_D3_ColorMatrix");
template <> char* QIOStringTraits<multi1d<LatticeDiracFermionF3>>::tname = const_cast<char*>("USQCD_F3_DiracFermion");
template <> char* QIOStringTraits<multi1d<LatticeDiracFermionD3>>::tname = const_cast<char*>("USQCD_D3_DiracFermion");
template <> char* QIOStringTraits<LatticeColorVectorF3>::tname = const_cast<char*>("USQCD_F3_ColorVector");
template <> char* QIOStringTraits<LatticeColorVectorD3>::tname = const_cast<char*>("USQCD_D3_ColorVector");

}  // namespace QDP

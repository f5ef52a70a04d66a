#!/usr/bin/env bash
# The programs give on the PTX machine what they give on the processor. measure, whose numbers here come from + - * / and
# square roots alone: the same bits, in checksums of propagators, and the same digits of every number. hmc, whose momenta
# and link updates need logarithms, sines and cosines, NVIDIA's here and the processor's there: energies to ten digits.
# Usage: same_on_ptx.sh PROGRAMS EXAMPLES DATA LIBCUDA_PTX FOLDER     PROGRAMS: the folder of hmc and measure
set -euo pipefail
programs=$(realpath "$1") examples=$(realpath "$2") data=$(realpath "$3") library=$(realpath "$4") folder=$5
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"

run() {  # PLACE PROGRAM NAME
  mkdir -p "$1"
  (cd "$1" && TESSERA_LIBCUDA=$library TESSERA_DEVICE=$1 PTX_MACHINE_REPORT=report.txt \
     "$programs/$2" -i "../$3.xml" -o "$3.out.xml" -l "$3.log.xml" >"$3.txt" 2>&1) ||
    { tail -n 30 "$1/$3.txt"; echo "$3 on $1 does not run"; exit 1; }
}
checksums() { grep -ao '<sum[ab]>[0-9a-f]*' "$1"; }
# Every number in the order of the document; no dates, times, or names of devices.
numbers() { grep -o '<[A-Za-z_0-9]*>[-+.0-9eE ]*</' "$1" | grep -iv 'time\|date\|second\|flop' || true; }

# Mesons, baryons and the plaquette of a thermal configuration, with clover and Wilson quarks.
measurement() {  # FERMION_ACTION
  cat <<END
      <elem><Name>MAKE_SOURCE</Name>
        <Param><version>6</version><Source><version>2</version><SourceType>POINT_SOURCE</SourceType><j_decay>3</j_decay>
          <t_srce>0 1 2 3</t_srce></Source></Param>
        <NamedObject><gauge_id>default_gauge_field</gauge_id><source_id>point_$1</source_id></NamedObject></elem>
      <elem><Name>PROPAGATOR</Name>
        <Param><version>10</version><quarkSpinType>FULL</quarkSpinType>
          <FermionAction><FermAct>$1</FermAct><Kappa>0.12</Kappa>$2
            <FermionBC><FermBC>SIMPLE_FERMBC</FermBC><boundary>1 1 1 -1</boundary></FermionBC></FermionAction>
          <InvertParam><invType>$3</invType><RsdCG>1.0e-8</RsdCG><MaxCG>1000</MaxCG></InvertParam></Param>
        <NamedObject><gauge_id>default_gauge_field</gauge_id><source_id>point_$1</source_id><prop_id>quark_$1</prop_id></NamedObject></elem>
      <elem><Name>SINK_SMEAR</Name>
        <Param><version>5</version><Sink><version>2</version><SinkType>POINT_SINK</SinkType><j_decay>3</j_decay></Sink></Param>
        <NamedObject><gauge_id>default_gauge_field</gauge_id><prop_id>quark_$1</prop_id>
          <smeared_prop_id>sink_$1</smeared_prop_id></NamedObject></elem>
      <elem><Name>HADRON_SPECTRUM</Name>
        <Param><version>1</version><MesonP>true</MesonP><CurrentP>false</CurrentP><BaryonP>true</BaryonP><time_rev>false</time_rev>
          <mom2_max>0</mom2_max><avg_equiv_mom>true</avg_equiv_mom></Param>
        <NamedObject><gauge_id>default_gauge_field</gauge_id>
          <sink_pairs><elem><first_id>sink_$1</first_id><second_id>sink_$1</second_id></elem></sink_pairs></NamedObject></elem>
      <elem><Name>QIO_WRITE_NAMED_OBJECT</Name>
        <NamedObject><object_id>quark_$1</object_id><object_type>LatticePropagatorD</object_type></NamedObject>
        <File><file_name>$1.lime</file_name><file_volfmt>SINGLEFILE</file_volfmt></File></elem>
END
}
{
  echo "<chroma><Param><InlineMeasurements><elem><Name>PLAQUETTE</Name></elem>"
  measurement CLOVER '<clovCoeff>1.3</clovCoeff>' MIXED_CG_INVERTER
  measurement WILSON '' CG_INVERTER
  echo "</InlineMeasurements><nrow>4 4 4 4</nrow></Param>"
  echo "<Cfg><cfg_type>SCIDAC</cfg_type><cfg_file>$data/lat.sample.l4444.scidac</cfg_file></Cfg></chroma>"
} >spectrum.xml
run cpu measure spectrum
run cuda measure spectrum
numbers cpu/spectrum.out.xml >cpu/spectrum.numbers
numbers cuda/spectrum.out.xml >cuda/spectrum.numbers
[ "$(wc -l <cpu/spectrum.numbers)" -ge 100 ] || { echo "expected hundreds of numbers, got $(wc -l <cpu/spectrum.numbers)"; exit 1; }
diff cpu/spectrum.numbers cuda/spectrum.numbers >spectrum.diff || { echo "measure: other bits than on the processor"; head spectrum.diff; exit 1; }
for action in CLOVER WILSON; do
  [ "$(checksums cpu/$action.lime | wc -l)" -ge 2 ] || { echo "no checksums in $action.lime"; exit 1; }
  [ "$(checksums cpu/$action.lime)" = "$(checksums cuda/$action.lime)" ] || { echo "propagator $action: other bits"; exit 1; }
done
echo "measure: $(wc -l <cpu/spectrum.numbers) lines of numbers, the same; $(tail -n 1 cuda/report.txt)"

for name in nf2_wilson quenched; do
  sed -e 's#<nrow>[^<]*<#<nrow>4 4 4 4<#' -e 's#<NUpdatesThisRun>[^<]*<#<NUpdatesThisRun>1<#' \
      -e 's#<SaveInterval>[^<]*<#<SaveInterval>1<#' -e "s#<SavePrefix>[^<]*<#<SavePrefix>$name<#" "$examples/$name.xml" >"$name.xml"
  run cpu hmc "$name"
  run cuda hmc "$name"
  paste <(grep -o '<\(KE\|PE\|delta\)[A-Za-z_]*>[^<]*' "cpu/$name.out.xml" | tr '>' ' ') \
        <(grep -o '<\(KE\|PE\|delta\)[A-Za-z_]*>[^<]*' "cuda/$name.out.xml" | tr '>' ' ') |
    awk -v name="$name" '
      { d = $2 - $4; if (d < 0) d = -d; size = $2 < 0 ? -$2 : $2; if (size > largest) largest = size
        if (NF != 4 || $1 != $3 || d > 1e-10 * (largest + 1)) { print name ": " $0; bad = 1 } }
      END { if (NR < 5) { print name ": expected energies, got " NR; bad = 1 } print name ": " NR " energies agree"; exit bad }'
done

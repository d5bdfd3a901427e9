#!/bin/sh
# Writes a program of the ART families of paper 3 (section 5) to standard output.
#
#   bench/art.sh pc N   N non-deterministic assignments to ten global variables in each thread
#   bench/art.sh v N    N global variables, each set in the main thread and assigned once in each thread
#
# An unbounded number of threads is started. A further variable is set before the first start and tested at the end of each thread; it depends
# on all others, so that none of them can be left out: the last assignment of a thread keeps it as it is or sets it to true, by the others' values.
set -eu
family=$1
n=$2
case $family in
pc) variables=10 ;;
v) variables=$n ;;
*) echo "usage: bench/art.sh pc|v N" >&2; exit 2 ;;
esac
awk -v family="$family" -v n="$n" -v m="$variables" 'BEGIN {
  print "decl ok;"
  for (i = 0; i < m; i++) print "decl v" i ";"
  print "void main() begin"
  print "  ok := T;"
  if (family == "v") for (i = 0; i < m; i++) print "  v" i " := F;"
  print "  again: start_thread worker();"
  print "  goto again;"
  print "end"
  print "void worker() begin"
  for (i = 0; i < n; i++) print "  v" (i % m) " := *;"
  for (i = 0; i < m; i++) print "  ok := ok | v" i ";"
  print "  assert(ok);"
  print "end"
}'

# SPDX-License-Identifier: GPL-2.0
# Per-slave throughput over time; dir and kernel come from the caller.
set terminal svg size 900,420 dynamic background rgb 'white' font 'sans,13'
set output dir.'/failover.svg'
set title 'balance-rr over three slaves, one link cut under traffic (kernel '.kernel.')'
set xlabel 'seconds'
set ylabel 'frames a second'
set key outside right
set grid ytics lc rgb '#dddddd'
set yrange [0:*]
load dir.'/marks.gp'
set arrow from cut, graph 0 to cut, graph 1 nohead lc rgb '#999999' dt 2
set arrow from back, graph 0 to back, graph 1 nohead lc rgb '#999999' dt 2
set label 'cut' at cut, graph 0.95 offset 0.5
set label 'restored' at back, graph 0.95 offset 0.5
plot for [i=0:2] dir.'/samples.tsv' using 1:(column(i+2)) with lines lw 2 \
	title 'slave s'.i

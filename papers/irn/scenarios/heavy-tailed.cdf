# size (B)  P(X <= size); linear between the points.
# §4.3.1 gives three facts: half of the flows are single packets of 32 B to 1 KB, 15 % have 200 KB to 3 MB, the rest lie between.
32       0.00
1024     0.50
200000   0.85
3000000  1.00

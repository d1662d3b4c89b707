# size (B)  P(X <= size); linear between the points (§4.3.4, Table 4.5: 500 KB to 5 MB).
500000   0
5000000  1

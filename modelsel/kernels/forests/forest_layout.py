"""The numbers of a node of a forest's tree, as compiled code and Python share them."""

NODE = 5  # numbers of a grown node; a model's nodes have the first four
TEST, COLUMN, AT, RIGHT, ROWS = range(NODE)
KIND, LOST, OTHERS = 15, 16, 32  # bits of TEST: its kind; rows of missing value, or of a level that did not occur, go second
WHOLE = 1 << 40  # votes for a share of 1
SQUARES = 3  # beside GENERAL, ENTROPY, GINI: squared error; in place of class weights stand a sum of numbers and a weight

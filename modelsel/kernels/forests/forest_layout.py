"""The numbers of a node of a forest's tree, as compiled code and Python share them."""

NODE = 8  # numbers of a node
TEST, COLUMN, AT, RIGHT, SIDES, ROWS, DEPTH, PARENT = range(NODE)
LOST, OTHERS = 1, 2  # bits of SIDES: rows of missing value, or of a level that did not occur, take the second branch
WHOLE = 1 << 40  # votes for a share of 1

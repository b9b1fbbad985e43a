"""What trees of numbers are grown by, as kernels read it (`GrowthRules.formula`)."""

SQUARED, DEVIANCE, PINBALL = range(3)  # squared error, Poisson deviance, the loss of a quantile

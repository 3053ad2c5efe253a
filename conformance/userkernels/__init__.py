"""cupy's own tests of user-defined kernels, run on `xpops.kernel`."""

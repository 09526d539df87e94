"""Kernels, banks and families of them: the only doors to a Gram matrix.

A new kernel is one file here: a frozen dataclass derived from `base.Kernel`
(`base.RadialKernel` or `base.ProductKernel` share work with others of their
kind).  From features to a bank: `banks.make_terms`, `building.build_bank`.
From given matrices: `precomputed.precomputed_bank`.  All products of up to D base
kernels, never listed: `products.product_family`, behind `family.KernelFamily`.
"""

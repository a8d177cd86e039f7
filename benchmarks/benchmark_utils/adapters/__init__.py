"""The programs that are compared, one small class each (protocol: :class:`benchmark_utils.harness.Adapter`)."""

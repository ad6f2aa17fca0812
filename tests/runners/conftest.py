from kernel_tuner_oracle import kernel_tuner_trace, recorded

__all__ = ["kernel_tuner_trace", "recorded"]

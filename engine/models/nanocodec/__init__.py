"""NanoCodec: finite-scalar-quantized speech codes to a waveform and back, streamed exactly."""

"""How likely a game of Generator is to be drawn; see the module's `.pyx`."""

cdef void allow_for_draws(float* shares, int seats, int rolls, int left) noexcept nogil

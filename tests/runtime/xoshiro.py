"""The generator for compiled code, once more in plain Python."""

WORD = 2**64


def _rotated(x, k):
    return (x << k | x >> (64 - k)) % WORD


class Twin:
    """xoshiro256++ as Blackman and Vigna describe it, with Python's whole numbers."""

    def __init__(self, state):
        self.s = [int(word) for word in state]

    def next_bits(self):
        s = self.s
        result = (_rotated((s[0] + s[3]) % WORD, 23) + s[0]) % WORD
        t = (s[1] << 17) % WORD
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = _rotated(s[3], 45)
        return result

    def uniform(self):
        return (self.next_bits() >> 11) / 2**53

    def below(self, n):
        return (self.next_bits() >> 32) * n >> 32

    def shuffle(self, items):
        for i in range(len(items) - 1, 0, -1):
            j = self.below(i + 1)
            items[i], items[j] = items[j], items[i]

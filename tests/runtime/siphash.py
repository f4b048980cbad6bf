"""SipHash-2-4 of bytes, step by step as its authors describe it."""

MASK = 2**64 - 1


def _turn(word: int, left: int) -> int:
    return (word << left | word >> (64 - left)) & MASK


def _round(v: list[int]) -> None:
    v[0] = (v[0] + v[1]) & MASK
    v[1] = _turn(v[1], 13) ^ v[0]
    v[0] = _turn(v[0], 32)
    v[2] = (v[2] + v[3]) & MASK
    v[3] = _turn(v[3], 16) ^ v[2]
    v[0] = (v[0] + v[3]) & MASK
    v[3] = _turn(v[3], 21) ^ v[0]
    v[2] = (v[2] + v[1]) & MASK
    v[1] = _turn(v[1], 17) ^ v[2]
    v[2] = _turn(v[2], 32)


def siphash(key: bytes, message: bytes) -> int:
    k0, k1 = (int.from_bytes(key[at : at + 8], "little") for at in (0, 8))
    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]
    padded = message + b"\0" * (7 - len(message) % 8) + bytes([len(message) % 256])
    for at in range(0, len(padded), 8):
        word = int.from_bytes(padded[at : at + 8], "little")
        v[3] ^= word
        _round(v)
        _round(v)
        v[0] ^= word
    v[2] ^= 0xFF
    for _ in range(4):
        _round(v)
    return v[0] ^ v[1] ^ v[2] ^ v[3]

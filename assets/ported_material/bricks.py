"""Makes bricks.png: 128 x 128, RGBA; alpha is gloss. Needs Python alone."""

import random
import struct
import zlib

SIZE, ROWS, COLUMNS, MORTAR = 128, 8, 4, 3


def texel(x, y):
    row = y * ROWS // SIZE
    shifted = (x + (row % 2) * SIZE // (2 * COLUMNS)) % SIZE
    column = shifted * COLUMNS // SIZE
    in_mortar = y % (SIZE // ROWS) < MORTAR or shifted % (SIZE // COLUMNS) < MORTAR
    noise = random.Random(x * 8191 + y).randint(-8, 8)
    if in_mortar:
        return (150 + noise, 145 + noise, 138 + noise, 20)
    tone = random.Random(row * 31 + column * 7).randint(-24, 24)
    return (168 + tone + noise, 84 + tone // 2 + noise, 62 + tone // 3 + noise, 150)


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


rows = b"".join(b"\0" + bytes(v for x in range(SIZE) for v in texel(x, y)) for y in range(SIZE))
with open("bricks.png", "wb") as file:
    file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", SIZE, SIZE, 8, 6, 0, 0, 0)))
    file.write(chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b""))

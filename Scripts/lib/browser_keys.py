"""The keys that the simulator's browsers have for a subscription's token (Sources/Simulator/WebPush/BrowserKeys.swift)."""
import base64
import hashlib

P = 2**256 - 2**224 + 2**192 + 2**96 - 1
B = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B
BASE = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)


def encoded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def doubled(point):
    """Of a point that is not its own inverse."""
    x, y = point
    slope = (3 * x * x - 3) * pow(2 * y, -1, P) % P
    third = (slope * slope - 2 * x) % P
    return third, (slope * (x - third) - y) % P


def added(first, second):
    """Of two points of which neither is the other or its inverse."""
    slope = (second[1] - first[1]) * pow(second[0] - first[0], -1, P) % P
    third = (slope * slope - first[0] - second[0]) % P
    return third, (slope * (first[0] - third) - first[1]) % P


def windows():
    """For each byte of a number, the multiples of the base point that its 255 values stand for."""
    tables, base = [], BASE
    for _ in range(32):
        row = [None, base, doubled(base)]
        while len(row) < 256:
            row.append(added(row[-1], base))
        tables.append(row)
        base = added(row[255], base)
    return tables


TABLES = []


def public_key(private):
    """4 ‖ x ‖ y. Sums in Jacobian coordinates, with one inversion at the end."""
    if not TABLES:
        TABLES.extend(windows())
    x = y = z = None
    for table, byte in zip(TABLES, reversed(private)):
        if byte == 0:
            continue
        a, b = table[byte]
        if x is None:
            x, y, z = a, b, 1
            continue
        square = z * z % P
        h = (a * square - x) % P
        r = (b * square * z - y) % P
        h2 = h * h % P
        h3 = h2 * h % P
        v = x * h2 % P
        x = (r * r - h3 - 2 * v) % P
        y = (r * (v - x) - y * h3) % P
        z = z * h % P
    inverse = pow(z, -1, P)
    square = inverse * inverse % P
    x, y = x * square % P, y * square * inverse % P
    return b"\x04" + x.to_bytes(32, "big") + y.to_bytes(32, "big")


def browser_keys(token):
    """`p256dh` and `auth` of the subscription with this token, in base64url."""
    private = hashlib.sha256(b"pushfleet-simulator browser key\n" + token.encode()).digest()
    secret = hashlib.sha256(b"pushfleet-simulator browser secret\n" + token.encode()).digest()[:16]
    return encoded(public_key(private)), encoded(secret)

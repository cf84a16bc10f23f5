"""Opens our Web Push records with http_ece and verifies our VAPID tokens with py_vapid, as the tests laid them out.

Exit status 1, with a line for each, when something of ours is not what others take it for.
"""
# requires: http_ece py-vapid cryptography

import base64
import json
import pathlib
import sys
import time

import http_ece
from cryptography.hazmat.primitives.asymmetric import ec
from py_vapid import Vapid02

MATERIAL = pathlib.Path(__file__).resolve().parents[2] / ".build/independent/material"


def decoded(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def opens(body, key, secret):
    try:
        return http_ece.decrypt(body, private_key=key, auth_secret=secret, version="aes128gcm")
    except Exception:
        return None


def check(material):
    key = ec.derive_private_key(int.from_bytes(decoded(material["privateKey"]), "big"), ec.SECP256R1())
    secret = decoded(material["secret"])
    for number, request in enumerate(material["requests"]):
        body = decoded(request["body"])
        if opens(body, key, secret) != request["plaintext"].encode():
            yield f"request {number}: http_ece does not open it, or reads something else"
        if len(body) > 4096:
            yield f"request {number}: {len(body)} bytes"
        altered = body[:-1] + bytes([body[-1] ^ 1])
        if opens(altered, key, secret) is not None:
            yield f"request {number}: http_ece opens it altered, so this check proves nothing"
        yield from authorization(number, request["authorization"], material["origin"])


def authorization(number, header, origin):
    header = header.replace(", ", ",")  # the library's parser knows no space there
    if not Vapid02.verify(header):
        yield f"request {number}: py_vapid does not verify the token"
    parts = dict(part.strip().split("=", 1) for part in header.removeprefix("vapid ").split(","))
    claims = json.loads(decoded(parts["t"].split(".")[1]))
    if claims["aud"] != origin or not claims["sub"].startswith("mailto:"):
        yield f"request {number}: the token is made out for or by somebody else"
    if not 0 < claims["exp"] - time.time() <= 86400:
        yield f"request {number}: the token is not good now, or for more than a day"
    head, body, signature = parts["t"].split(".")
    swapped = signature[:-4] + ("AAAA" if signature[-4:] != "AAAA" else "BBBB")
    forged = header.replace(signature, swapped)
    try:
        is_taken = Vapid02.verify(forged)
    except Exception:
        is_taken = False
    if is_taken:
        yield f"request {number}: py_vapid takes a forged signature, so this check proves nothing"


def main():
    files = sorted(MATERIAL.glob("webpush*.json"))
    faults, count = [], 0
    for file in files:
        material = json.loads(file.read_text())
        count += len(material["requests"])
        faults += [f"{file.name}: {fault}" for fault in check(material)]
    if not count:
        faults.append("there is no material; run the tests first")
    for fault in faults:
        print(f"webpush: {fault}")
    print(f"webpush: {count} requests opened with http_ece and verified with py_vapid, {len(faults)} faults")
    sys.exit(1 if faults else 0)


main()

"""Verifies our APNs provider tokens with PyJWT and cryptography, and our apns-id with Python's uuid.

Exit status 1, with a line for each, when something of ours is not what others take it for.
"""
# requires: pyjwt cryptography

import json
import pathlib
import sys
import uuid

import jwt
from cryptography.hazmat.primitives.serialization import load_pem_private_key

MATERIAL = pathlib.Path(__file__).resolve().parents[2] / ".build/independent/material/apns.json"


def takes(token, key):
    """Apple judges the age; PyJWT only has to read iat as a number."""
    try:
        return jwt.decode(token, key, algorithms=["ES256"], options={"verify_iat": False})
    except jwt.InvalidTokenError:
        return None


def check(material):
    key = load_pem_private_key(material["privateKey"].encode(), None).public_key()
    namespace = uuid.UUID(material["namespace"])
    for number, request in enumerate(material["requests"]):
        token = request["authorization"].removeprefix("bearer ")
        header, claims = jwt.get_unverified_header(token), takes(token, key)
        if claims is None:
            yield f"request {number}: PyJWT does not verify the token"
            continue
        if header["alg"] != "ES256" or header["kid"] != material["keyID"]:
            yield f"request {number}: the header is {header}"
        if set(claims) != {"iss", "iat"} or claims["iss"] != material["teamID"] or type(claims["iat"]) is not int:
            yield f"request {number}: the claims are {claims}"
        head, body, signature = token.split(".")
        swapped = ("B" if signature[0] != "B" else "C") + signature[1:]
        if takes(".".join([head, body, swapped]), key) is not None:
            yield f"request {number}: PyJWT takes a forged signature, so this check proves nothing"
        if str(uuid.uuid5(namespace, request["job"])) != request["id"]:
            yield f"request {number}: Python makes another apns-id of {request['job']}"
        if json.loads(request["body"])["id"] != request["job"]:
            yield f"request {number}: the body is another job's"


def main():
    material = json.loads(MATERIAL.read_text()) if MATERIAL.exists() else {"requests": []}
    faults = list(check(material)) if material["requests"] else ["there is no material; run the tests first"]
    for fault in faults:
        print(f"apns: {fault}")
    print(f"apns: {len(material['requests'])} requests verified with PyJWT and uuid, {len(faults)} faults")
    sys.exit(1 if faults else 0)


main()

"""What schemathesis needs to know of Carrel: how to sign in, and what a schema cannot say of a valid request."""

import datetime
import os
import random

import requests
import schemathesis
from schemathesis.specs.openapi.checks import positive_data_acceptance

API = os.environ["CARREL_FUZZ_API"]
EMAIL = os.environ["CARREL_FUZZ_EMAIL"]
PASSWORD = os.environ["CARREL_FUZZ_PASSWORD"]
#: An access token holds 900 s.
TOKEN_SECONDS = 600

_random = random.Random(int(os.environ.get("CARREL_FUZZ_SEED", "1")))
_tokens = {}


def _network() -> str:
    """Sign-ins that fail are counted by network, so each request comes from another."""
    return ".".join(str(_random.randint(1, 250)) for _ in range(4))


def _sign_in(email: str) -> str:
    reply = requests.post(
        f"{API}/auth/login", json={"email": email, "password": PASSWORD}, headers={"X-Forwarded-For": _network()}, timeout=30
    )
    reply.raise_for_status()
    return reply.json()["access_token"]


@schemathesis.auth(refresh_interval=None)
class SignedIn:
    def get(self, case, context):
        operation = case.operation.definition.raw.get("operationId")
        if operation in ("logout", "endSession"):  # end the session of their token, or may
            return _sign_in(EMAIL)
        # Wrong passwords close sign-in to the person who sends them, so that is somebody else.
        email = f"other-{EMAIL}" if operation == "changePassword" else EMAIL
        text, until = _tokens.get(email, ("", datetime.datetime.min))
        now = datetime.datetime.now()
        if until < now:
            text = _sign_in(email)
            _tokens[email] = (text, now + datetime.timedelta(seconds=TOKEN_SECONDS))
        return text

    def set(self, case, data, context):
        case.headers["Authorization"] = f"Bearer {data}"


def _is_valid(case) -> bool:
    return case.meta is not None and case.meta.generation.mode.is_positive


@schemathesis.hook
def before_call(context, case, kwargs):
    case.headers["X-Forwarded-For"] = _network()
    # Bytes that stream are no part of what makes two requests the same (docs/decisions.md, Idempotency-Key): with the key of an earlier upload
    # a broken one gets that one's reply.
    if case.operation.definition.raw.get("operationId") in ("uploadFile", "putFile", "createUpload") and not _is_valid(case):
        case.headers.pop("Idempotency-Key", None)
    # Cases share their bodies, so what is changed is a copy.
    body = dict(case.body) if isinstance(case.body, dict) else None
    # Many wrong passwords for one person make each further one wait.
    if body is not None and case.operation.definition.raw.get("operationId") == "login":
        email = body.get("email")
        if isinstance(email, str) and 0 < len(email) < 200:
            body["email"] = f"{_random.randint(0, 999_999)}{email}"
            case.body = body
    if not _is_valid(case):
        return
    # No generated cursor is one that a page gave; without it the rest of the request is tried.
    if case.query and len(case.query) > 1 and "cursor" in case.query:
        case.query = {name: value for name, value in case.query.items() if name != "cursor"}
    # A body is replaced only where something in it changes: schemathesis takes a replaced body with bytes in it for an invalid one.
    if body is None or not {"cursor", "url"} & body.keys():
        return
    body.pop("cursor", None)
    # A receiver's host is a name in DNS; what is one, no pattern says.
    if "url" in body:
        body["url"] = "https://receiver.example.org/" + "".join(_random.choices("abc/?=&", k=_random.randint(0, 20)))
    case.body = body


#: A request may be of the right form and yet not fit what is there: the 400 says so in these words and no others.
OF_STATE = {
    "does not belong to this list and order; start again without it": "a cursor is one that a page gave",
    "must be in the future": "the form of a time says nothing of now",
    "must be before until": "of two times one comes first",
    "there is no such user": "an id that is well-formed may be nobody's",
    "there is no such group": "the same",
    "must be a user of this tenant": "the same",
    "must not be the user who is deleted": "of two ids one may not be the other",
    "is not a cursor returned by replay; omit it to start over": "as of a list's cursor",
    "is too deep to hold another folder": "folders nest 100 levels",
    "is too deep to hold this folder and those below it": "the same",
    "needs an e-mail address to sign in with; set email too": "of a person whom an LMS brought",
    "must be a string, or value_type must name its type": "without value_type a value is text",
    "is required, or Upload-Defer-Length in its place": "of two headers one",
    "must have a filename": "what Upload-Metadata says is in Base64",
    "must have each key once": "the same",
    "must have values in UTF-8": "the same",
    "must be a media type": "the same",
    "must be re-sent when url moves to another origin ({} to clear)": "headers belong to the address that is there",
}
#: The same, with a part that changes.
OF_STATE_BEGINS = ("must be one of this webhook's: ", "must not be later than ", "makes a path of more than ")


@schemathesis.check
def valid_is_taken(context, response, case):
    """positive_data_acceptance, but for refusals that rest on what is stored or on the time."""
    if response.status_code == 400:
        details = response.json().get("details", [])
        if details and all(d["message"] in OF_STATE or d["message"].startswith(OF_STATE_BEGINS) for d in details):
            return None
    return positive_data_acceptance(context, response, case)

# SPDX-License-Identifier: Apache-2.0
"""Google's token endpoint, IAM Credentials API and metadata server, and an MCP server that takes their tokens:
each refuses what Google's refuses.

https://developers.google.com/identity/protocols/oauth2/service-account
https://cloud.google.com/iam/docs/reference/credentials/rest/v1/projects.serviceAccounts/generateIdToken
https://cloud.google.com/compute/docs/access/authenticate-workloads
https://cloud.google.com/iam/docs/reference/sts/rest/v1/TopLevel/token
https://cloud.google.com/iam/docs/reference/credentials/rest/v1/projects.serviceAccounts/generateAccessToken
"""
import base64
import json
import secrets
import time
import urllib.parse

import oauth_server

ROBOT = "robot@project.iam.gserviceaccount.com"
CLOUD = "https://www.googleapis.com/auth/cloud-platform"
METADATA = "/computeMetadata/v1/instance/service-accounts/default/token"
POOL = "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/pool/providers/theirs"
TOKEN_TYPE = "urn:ietf:params:oauth:token-type:"
SUBJECT = "their.token=&+"
USER = {"client_id": "id.apps.googleusercontent.com", "client_secret": "s3cret & more", "refresh_token": "1//refresh"}


def id_token(audience, seconds):
    claims = {"iss": "https://accounts.google.com", "aud": audience, "exp": int(time.time()) + seconds}
    return ".".join(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in (
        b'{"alg":"RS256"}', json.dumps(claims).encode(), secrets.token_bytes(256)))


class Handler(oauth_server.Handler):
    def do_GET(self):
        world, (path, _, query) = self.server, self.path.partition("?")
        if path == "/subject":
            world.asked.append(path)
            if self.headers.get("X-Metadata") != "yes":
                return self.reply(403)
            return self.reply(200, {"value": SUBJECT, "of": query} if query else SUBJECT)
        if path != METADATA:
            return super().do_GET()
        world.asked.append(path)
        flavor = self.headers.get("Metadata-Flavor") == "Google"
        world.scopes.append(dict(urllib.parse.parse_qsl(query))["scopes"])
        if not flavor or not world.flavor:
            return self.reply(403 if not flavor else 200, {"access_token": "of another", "expires_in": 3600})
        return self.access(Metadata_Flavor="Google")

    def access(self, **headers):
        """A token that holds, and no other."""
        world = self.server
        world.access = "ya29." + secrets.token_urlsafe()
        if not world.iam:
            world.tokens = {world.access}
        self.reply(200, {"access_token": world.access, "expires_in": world.holds, "token_type": "Bearer"}, **headers)

    def token(self, form):
        world = self.server
        if form["grant_type"] == "refresh_token":
            if form != {"grant_type": "refresh_token", **USER}:
                return self.reply(400, {"error": "invalid_grant"})
            return self.access()
        if form["grant_type"] == "urn:ietf:params:oauth:grant-type:token-exchange":
            return self.exchange(form)
        assert form.pop("grant_type") == "urn:ietf:params:oauth:grant-type:jwt-bearer" and list(form) == ["assertion"]
        header, claims = oauth_server.read_jwt(form["assertion"], world.public_key)
        assert header == {"alg": "RS256", "typ": "JWT", "kid": "key 7"}
        assert claims["iss"] == ROBOT and claims["aud"] == world.base + "/token"
        assert claims["iat"] <= time.time() + 1 and claims["exp"] - claims["iat"] == 3600
        world.scopes.append(claims["scope"])
        return self.access()

    def exchange(self, form):
        """Another provider's token for one of Google's (RFC 8693)."""
        world = self.server
        world.basic.append(self.headers.get("Authorization"))
        if form.pop("subject_token") not in (SUBJECT, json.dumps(SUBJECT)):
            return self.reply(400, {"error": "invalid_grant", "error_description": "\x1b[31m"})
        world.scopes.append(form.pop("scope"))
        world.options.append(form.pop("options", None))
        assert form == {"grant_type": "urn:ietf:params:oauth:grant-type:token-exchange", "audience": POOL,
                        "requested_token_type": TOKEN_TYPE + "access_token", "subject_token_type": TOKEN_TYPE + "jwt"}
        return self.access()

    def impersonate(self, message):
        world = self.server
        if self.headers.get("Authorization") != "Bearer " + world.access or not world.may_act:
            return self.reply(403, {"error": {"code": 403, "status": "PERMISSION_DENIED"}})
        world.acted.append(message)
        world.access = "ya29." + secrets.token_urlsafe()
        if not world.iam:
            world.tokens = {world.access}
        end = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + world.holds))
        return self.reply(200, {"accessToken": world.access, "expireTime": end})

    def message(self, message):
        world = self.server
        if self.path == "/v1/projects/-/serviceAccounts/" + ROBOT + ":generateAccessToken":
            return self.impersonate(message)
        if not self.path.startswith("/v1/"):
            return super().message(message)
        assert self.path == "/v1/projects/-/serviceAccounts/" + ROBOT + ":generateIdToken"
        if self.headers.get("Authorization") != "Bearer " + world.access:
            return self.reply(401, {"error": {"code": 401, "status": "UNAUTHENTICATED"}})
        assert message == {"audience": "the audience", "includeEmail": True}
        if not world.iam:
            return self.reply(403, {"error": {"code": 403, "status": "PERMISSION_DENIED", "message": "\x1b[31m"}})
        world.tokens = {id_token("the audience", world.holds)}
        return self.reply(200, {"token": max(world.tokens)})


class Server(oauth_server.Server):
    handler = Handler

    def __init__(self):
        super().__init__()
        self.scopes, self.access, self.holds, self.iam, self.flavor = [], None, 3600, False, True
        self.options, self.acted, self.may_act = [], [], True

import { describe, expect, it } from "vitest";
import { words } from "../../support/words.ts";
import { platform } from "../support/api.ts";
import { atOnce, statusesOf } from "../support/at_once.ts";
import { storedRows } from "../support/database.ts";
import { expectRefusal } from "../support/expectations.ts";
import { anOrganization, unique } from "../support/organization.ts";

const register = (organization_id: number, issuer: unknown) =>
  platform.post(`/organizations/${organization_id}/issuers`, { issuer });

const anIssuer = (more: object = {}) => {
  const issuer = `https://${unique("idp")}.test`;
  return { issuer, audience: "video-visits", jwks_url: `${issuer}/jwks`, ...more };
};

const storedIssuers = (id: number) => storedRows({ id }, "issuers");

describe("The jwks_url of an issuer", () => {
  it.each(words`
    https://idp.test/jwks https://idp.test HTTPS://IDP.TEST/.well-known/jwks.json
    https://idp.test:8443/realms/clinic/certs?tenant=1 https://localhost/jwks
    https://127.0.0.1.idp.test/jwks http://localhost/jwks http://LocalHost:9000/jwks http://127.0.0.1/jwks
    http://127.0.0.1:9000/jwks http://127.255.255.254/jwks http://[::1]/jwks http://[::1]:9000/jwks
    http://[0:0:0:0:0:0:0:1]/jwks`)("can be %s", async (jwks_url) => {
    const clinic = await anOrganization();
    expect(await register(clinic.id, anIssuer({ jwks_url }))).toMatchObject({
      status: 201,
      body: { jwks_url },
    });
  });

  it.each([
    ...words`
      http://example.com/jwks http://idp.test/jwks http://127.0.0.1.evil.com/jwks http://127.evil.com/jwks
      http://localhost.evil.com/jwks http://evil.com/localhost http://evil.com#localhost
      http://evil.com?127.0.0.1 http://evil.com\@localhost/jwks http://localhost@evil.com/jwks
      http://notlocalhost/jwks http://128.0.0.1/jwks http://10.0.0.1/jwks http://192.168.0.1/jwks
      http://169.254.169.254/latest/meta-data http://0.0.0.0/jwks http://[::]/jwks http://[::2]/jwks
      http://[::ffff:10.0.0.1]/jwks https://user:password@idp.test/jwks https://user@idp.test/jwks
      https://:password@idp.test/jwks http://user:password@localhost/jwks ftp://idp.test/jwks
      ftp://localhost/jwks ws://localhost/jwks file:///etc/passwd javascript:alert(1)
      javascript://localhost/%0aalert(1) data:application/json,{} blob:https://idp.test/1 https:// https:
      //idp.test/jwks /jwks idp.test/jwks localhost:9000/jwks https://idp.test:99999/jwks`,
    "https://idp test/jwks",
    "https://idp.test/\njwks",
    `https://idp.test/${"j".repeat(1000)}`,
  ])("cannot be %s", async (jwks_url) => {
    const clinic = await anOrganization();
    expectRefusal(await register(clinic.id, anIssuer({ jwks_url })), 422, /^issuer\.jwks_url: /);
    expect(await storedIssuers(clinic.id)).toEqual([]);
  });
});

it("An issuer is stored once for twenty requests at once, apart from one with another spelling", async () => {
  const clinic = await anOrganization();
  const wanted = anIssuer();
  const answers = await atOnce(20, () => register(clinic.id, wanted));
  expect(statusesOf(answers)).toEqual({ 201: 1, 422: 19 });
  for (const answer of answers) if (answer.status !== 201) expectRefusal(answer, 422, /^issuer\.issuer: /);
  expect(await storedIssuers(clinic.id)).toHaveLength(1);
  for (const issuer of [`${wanted.issuer}/`, wanted.issuer.toUpperCase()])
    expect((await register(clinic.id, anIssuer({ issuer }))).status).toBe(201);
});

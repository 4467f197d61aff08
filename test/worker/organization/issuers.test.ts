import { describe, expect, it } from "vitest";
import { words } from "../../support/words.ts";
import { platform } from "../support/api.ts";
import { storedRows } from "../support/database.ts";
import { expectRefusal } from "../support/expectations.ts";
import { anOrganization, given, unique } from "../support/organization.ts";
import { aClinicWithSignIn, expectExchanged, expectRefused } from "../support/sign_in.ts";

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

describe("A registered issuer", () => {
  it("is stored once for twenty requests at once", async () => {
    const clinic = await anOrganization();
    const wanted = anIssuer();
    const answers = await Promise.all(Array.from({ length: 20 }, () => register(clinic.id, wanted)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    for (const answer of answers) if (answer.status !== 201) expectRefusal(answer, 422, /^issuer\.issuer: /);
    expect(await storedIssuers(clinic.id)).toHaveLength(1);
  });

  it("can serve other organizations, each with its own settings", async () => {
    const [clinic, other] = [await anOrganization(), await anOrganization()];
    const shared = anIssuer();
    const ours = await given(register(clinic.id, shared));
    const theirs = await given(register(other.id, { ...shared, audience: "theirs", email_claim: "upn" }));
    expect(theirs.id).not.toBe(ours.id);
    expect(await storedIssuers(clinic.id)).toMatchObject([shared]);
    expect(await storedIssuers(other.id)).toMatchObject([{ audience: "theirs", email_claim: "upn" }]);
  });

  it("is distinct from an issuer with another spelling", async () => {
    const clinic = await anOrganization();
    const { issuer } = await given(register(clinic.id, anIssuer()));
    for (const spelling of [`${issuer}/`, issuer.toUpperCase()])
      expect((await register(clinic.id, anIssuer({ issuer: spelling }))).status).toBe(201);
    expect(await storedIssuers(clinic.id)).toHaveLength(3);
  });
});

describe("DELETE /organizations/{organization_id}/issuers/{id}", () => {
  it("takes effect at once, even if the issuer is registered again with another audience", async () => {
    const { clinic, client, provider, issuer, email } = await aClinicWithSignIn();
    const token = await provider.token({ email });
    await expectExchanged(client, token);
    await given(clinic.platform.delete(`/issuers/${issuer.id}`));
    await provider.register(clinic, { audience: "another" });
    await expectRefused(client, token);
    await expectExchanged(client, await provider.token({ email, aud: "another" }));
  });
});

import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { CLIENT_FRACTION, MAX_DAILY_ACCESS_LOGS } from "../../../src/limits.ts";
import { entriesAbout, entriesOfRequest, withoutEntries } from "../support/access_logs.ts";
import { expectRefusal } from "../support/expectations.ts";
import { AUDIENCE, aKey } from "../support/identity_provider.ts";
import { given } from "../support/organization.ts";
import {
  aClinicWithSignIn,
  anEmail,
  exchange,
  expectExchanged,
  redeem,
  storedCodes,
} from "../support/sign_in.ts";
import { travelTo } from "../support/time.ts";

const REFUSED = "sign_in_refused";

describe("POST /auth/token_exchange", () => {
  it("records each exchange, with the user who signs in and the calling client", async () => {
    const { clinic, provider } = await aClinicWithSignIn();
    const paula = await clinic.addProvider();
    const token = await provider.token({ email: paula.email });
    const began = Date.now();
    for (let n = 1; n <= 2; n++) {
      travelTo(new Date(began + n * 60_000).toISOString());
      const headers = { "X-Acting-User": "kiosk-3" };
      const answer = await clinic.client.send(
        "POST",
        "/auth/token_exchange",
        { token_exchange: { token } },
        headers,
      );
      expect(await entriesOfRequest(answer)).toEqual([
        expect.objectContaining({
          organization_id: clinic.id,
          event: "sign_in",
          resource: "organization_user",
          resource_id: paula.id,
          organization_user_id: paula.id,
          user_id: clinic.admin.user_id,
          api_client_id: clinic.client.id,
          acting_user: "kiosk-3",
        }),
      ]);
      expect(await entriesAbout(clinic, "sign_in", "organization_user")).toHaveLength(n);
    }
    const { access_logs } = await given(clinic.client.get("/access_logs?event=sign_in"));
    expect(access_logs).toMatchObject([{ resource_id: paula.id }, { resource_id: paula.id }]);
  });

  it("records a sign-in repeated within a minute, by the same person and client, only once", async () => {
    const { clinic, client, provider } = await aClinicWithSignIn();
    const [paula, peter] = [await clinic.addProvider(), await clinic.addProvider()];
    const other = await clinic.addClient(clinic.admin.id);
    const signIns = async () => (await entriesAbout(clinic, "sign_in", "organization_user")).length;
    const signIn = async ({ email }: { email: string }, by = client) =>
      expectExchanged(by, await provider.token({ email }));
    const began = Date.now();
    const travelToSecond = (second: number) => travelTo(new Date(began + second * 1000).toISOString());
    travelToSecond(0);
    const codes = new Set([await signIn(paula), await signIn(paula)]);
    travelToSecond(59);
    codes.add(await signIn(paula));
    expect([codes.size, await signIns()]).toEqual([3, 1]);
    await signIn(peter);
    await signIn(paula, other);
    expect(await signIns()).toBe(3);
    travelToSecond(60);
    await signIn(paula);
    expect(await signIns()).toBe(4);
  });

  it("records the refusal of a properly signed token, which names nobody: the email is no member's", async () => {
    const { clinic, client, provider } = await aClinicWithSignIn();
    const invited = await clinic.addInvite();
    const former = await clinic.addProvider();
    await given(clinic.platform.delete(`/users/${former.id}`));
    const unknown = { resource_id: null, organization_user_id: null };
    for (const claims of [
      { email: invited.email },
      { email: former.email },
      { email: anEmail() },
      { email: clinic.admin.email, email_verified: false },
      {},
    ]) {
      const answer = await exchange(client, await provider.token(claims));
      expect(answer.status).toBe(401);
      expect(await entriesOfRequest(answer)).toEqual([
        expect.objectContaining({
          event: REFUSED,
          resource: "organization_user",
          user_id: clinic.admin.user_id,
          api_client_id: client.id,
          ...unknown,
        }),
      ]);
    }
  });
});

it("POST /auth/token_exchange records nothing for a token that is forged, expired, for another audience, or of another organization's issuer", async () => {
  const { clinic, client, provider, email } = await aClinicWithSignIn();
  const now = Math.floor(Date.now() / 1000);
  for (const token of [
    await provider.token({ email }, {}, await aKey("ES256", provider.key.kid)),
    await provider.token({ email, exp: now - 1 }),
    await provider.token({ email, aud: `not ${AUDIENCE}` }),
    await provider.token({ email, iss: "https://nobody.example.com" }),
    await (await aClinicWithSignIn()).provider.token({ email }),
    "no token",
  ]) {
    const answer = await exchange(client, token);
    expectRefusal(answer, 401, "Invalid token");
    expect(await entriesOfRequest(answer)).toEqual([]);
  }
  expect(await entriesAbout(clinic, REFUSED, "organization_user")).toEqual([]);
});

it("POST /auth/token_exchange makes no code if the entry cannot be stored", async () => {
  const { client, provider, email } = await aClinicWithSignIn();
  const token = await provider.token({ email });
  const before = await storedCodes();
  expect((await withoutEntries(() => exchange(client, token))).status).toBe(500);
  expect(await storedCodes()).toEqual(before);
});

it("POST /auth/token_exchange works with an exhausted quota of entries, and uses none of it", async () => {
  travelTo("2026-11-24T12:00:00Z");
  const { clinic, client, provider, email } = await aClinicWithSignIn();
  const storedSoFar = (api_client_id: number, entries: number) =>
    env.DB.prepare(
      `insert into organization_days (organization_id, date, api_client_id, access_log_entries) values (?, '2026-11-24', ?, ?)`,
    )
      .bind(clinic.id, api_client_id, entries)
      .run();
  await storedSoFar(0, MAX_DAILY_ACCESS_LOGS);
  await storedSoFar(client.id, MAX_DAILY_ACCESS_LOGS * CLIENT_FRACTION);
  expectRefusal(await client.get("/visits"), 429);
  await given(redeem(await expectExchanged(client, await provider.token({ email }))));
  expectRefusal(await exchange(client, await provider.token({ email: anEmail() })), 401, "Invalid token");
  for (const event of ["sign_in", REFUSED])
    expect(await entriesAbout(clinic, event, "organization_user")).toHaveLength(1);
  const { usage } = await given(client.get("/usage"));
  expect(usage).toMatchObject([{ access_log_entries: MAX_DAILY_ACCESS_LOGS }]);
});

import { describe, expect, it } from "vitest";
import { everyRow } from "../support/database.ts";
import { expectRefusal } from "../support/expectations.ts";
import { aClinicWithSignIn, expectExchanged, redeem, storedCodes } from "../support/sign_in.ts";
import { travelToSecond } from "../support/time.ts";

/** A code for the organization's administrator. */
async function aCode() {
  const { client, provider, email } = await aClinicWithSignIn();
  return expectExchanged(client, await provider.token({ email }));
}

const expectInvalid = async (code: string) => expectRefusal(await redeem(code), 401, "Invalid code");

async function sha256(text: string) {
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

describe("POST /authorization_codes/redeem", () => {
  it("refuses a used code, even if the clock is set back", async () => {
    travelToSecond(0);
    const code = await aCode();
    expect((await redeem(code)).status).toBe(200);
    travelToSecond(-1);
    await expectInvalid(code);
  });

  it.each<[string, (code: string) => string | Promise<string>]>([
    ["is made up", () => "A".repeat(43)],
    ["is empty", () => ""],
    ["lacks its last letter", (code) => code.slice(0, -1)],
    ["has one more letter", (code) => `${code}A`],
    ["has a space around it", (code) => ` ${code}`],
    ["is in another case", (code) => code.toLowerCase()],
    ["is the digest of a valid code", sha256],
    ["has characters that no code has", () => "\u0000\ud800💥"],
    ["is 100 KB long", () => "A".repeat(100 * 1024)],
  ])("refuses a code that %s, and the valid code stays valid", async (_, forge) => {
    const code = await aCode();
    const before = await storedCodes();
    const forged = await forge(code);
    expect(forged).not.toBe(code);
    await expectInvalid(forged);
    expect(await storedCodes()).toEqual(before);
    expect((await redeem(code)).status).toBe(200);
  });
});

it("A code is stored only as its SHA-256", async () => {
  const code = await aCode();
  const digest = await sha256(code);
  for (const step of [() => {}, () => redeem(code)]) {
    await step();
    const rows = JSON.stringify(await everyRow());
    expect(rows).toContain(digest);
    expect(rows).not.toContain(code);
    expect(rows).not.toContain(code.slice(0, 20));
  }
});

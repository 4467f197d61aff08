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

  it("refuses made-up codes and misspelt ones, and the valid code stays valid", async () => {
    const code = await aCode();
    const before = await storedCodes();
    for (const forged of [
      ...["", "A".repeat(43), "A".repeat(100 * 1024), "\u0000\ud800💥"],
      ...[code.slice(0, -1), `${code}A`, ` ${code}`, code.toLowerCase(), await sha256(code)],
    ])
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

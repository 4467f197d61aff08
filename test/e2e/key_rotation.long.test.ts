import { expect, inject, it, onTestFinished } from "vitest";
import { startIdentityProvider } from "../../src/dev/identity_provider.ts";
import { eventually } from "./support/eventually.ts";
import { aClinicWithSignIn } from "./support/sign_in.ts";

// The keys of an identity provider are not fetched again within 30 s, so a rotation is noticed only after that.
it("Signing in with an OpenID provider still works after the provider has rotated its keys", async () => {
  const identityProvider = await startIdentityProvider();
  onTestFinished(async () => void (await identityProvider.stop()));
  const { admin, exchange } = await aClinicWithSignIn(inject("sharedServer").url, identityProvider);
  expect((await exchange(admin.email)).status).toBe(200);
  await identityProvider.rotateKeys();
  await eventually(async () => expect((await exchange(admin.email)).status).toBe(200), 1000);
});

import { expect, inject, it, onTestFinished } from "vitest";
import { startIdentityProvider } from "../../src/dev/identity_provider.ts";
import { eventually } from "./support/eventually.ts";
import { anOrganization } from "./support/organization.ts";
import { registerIssuer } from "./support/sign_in.ts";

// The service fetches a provider's keys at most every 30 s, so it notices a rotation only after that.
it("POST /auth/token_exchange works again after the OpenID provider has rotated its keys", async () => {
  const identityProvider = await startIdentityProvider();
  onTestFinished(async () => void (await identityProvider.stop()));
  const { base, user, platform, external } = await anOrganization(inject("sharedServer").url);
  await registerIssuer(platform, base, identityProvider);
  const signIn = async () => {
    const token_exchange = { token: await identityProvider.signIn(user.email) };
    return (await external("POST", "/auth/token_exchange", { token_exchange })).status;
  };
  expect(await signIn()).toBe(200);
  await identityProvider.rotateKeys();
  await eventually(async () => expect(await signIn()).toBe(200), 1000);
});

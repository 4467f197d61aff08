import type { Clinic } from "../clinic.ts";
import { exchangeToken } from "../sign_in.ts";
import { type Act, pick } from "./act.ts";

/** Isolates remember a client for a minute, and send the webhooks that they have begun to send. */
const NOTICED_AFTER = 61_000;

/** The acts by which people come and go. */
export const memberActs: Record<string, Act> = {
  async "signs somebody in"(clinic) {
    const { email } = clinic.world.chance.pick(clinic.providers);
    const exchanged = await exchangeToken(clinic, email);
    if (exchanged?.status !== 200) return;
    const redeem = () => clinic.platform("POST", "/authorization_codes/redeem", exchanged.body);
    const redeemed = await Promise.all([redeem(), redeem()]);
    if (redeemed.every((outcome) => outcome?.status === 200))
      clinic.world.violation("An authorization code was redeemed twice");
  },
  async "removes a member"(clinic) {
    const email = `${clinic.unique("max").replaceAll(" ", "-")}@example.com`;
    const user = { email, display_name: clinic.unique("Max"), roles: ["provider"] };
    const added = await clinic.platform("POST", `${clinic.own}/users`, { user });
    if (added?.status !== 201) return;
    await exchangeToken(clinic, email);
    const removed = await clinic.platform("DELETE", `${clinic.own}/users/${added.body.id}`);
    if (removed?.status !== 204) return;
    const after = await exchangeToken(clinic, email);
    if (after?.status === 200) clinic.world.violation("A former member signed in");
  },
  async "accepts an invite"(clinic) {
    const id = pick(clinic, clinic.invites);
    if (!id) return;
    const invite = await clinic.platform("GET", `${clinic.own}/invites/${id}`);
    if (invite?.status !== 200 || !invite.body.accept_url) return;
    const token = new URL(invite.body.accept_url).searchParams.get("token");
    await clinic.platform("POST", "/invites/accept", { token });
  },
  async "suspends the organization for a while"(clinic) {
    const { world } = clinic;
    if (clinic.suspension || world.chance.is(0.8)) return;
    clinic.suspension = "begins";
    const suspended = await clinic.platform("PUT", clinic.own, { organization: { is_suspended: true } });
    if (suspended?.status === 200) {
      await world.schedule.pause(NOTICED_AFTER);
      for (let n = 0; n < 3; n++) {
        const outcome = await clinic.client("GET", "/roles");
        if (outcome && ![403, 429].includes(outcome.status))
          world.violation(`A client of a suspended organization got ${outcome.status}`);
        await world.schedule.pause(NOTICED_AFTER / 3);
      }
      clinic.suspension = "holds";
      await world.schedule.pause(NOTICED_AFTER);
      clinic.suspension = "begins";
    }
    await resume(clinic);
  },
};

/** Without an answer, the organization is resumed at the end of the story. */
export async function resume(clinic: Clinic): Promise<void> {
  const resumed = await clinic.platform("PUT", clinic.own, { organization: { is_suspended: false } });
  if (resumed?.status === 200) clinic.suspension = undefined;
}

import { exchangeToken } from "../sign_in.ts";
import { type Act, pick } from "./act.ts";

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
    if (clinic.world.chance.is(0.7)) return;
    for (const is_suspended of [true, false]) {
      await clinic.platform("PUT", clinic.own, { organization: { is_suspended } });
      await clinic.world.schedule.pause(clinic.world.chance.below(5000));
    }
  },
};

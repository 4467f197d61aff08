import { platform } from "./door.ts";
import { given } from "./organization.ts";

/** The token in the link that is mailed to the invitee. */
export async function tokenOf({ id }: { id: number }): Promise<string> {
  const { accept_url } = await given(platform.get(`/invites/${id}`));
  return new URL(accept_url).searchParams.get("token") ?? "";
}

export const acceptToken = (token: unknown) => platform.post("/invites/accept", { token });

/** Accepts the invite as an invitee who follows the link. */
export const accept = async (invite: { id: number }) => acceptToken(await tokenOf(invite));

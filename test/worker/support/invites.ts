import { platform } from "./door.ts";
import { given } from "./organization.ts";

/** The token of the address that an invitee is mailed. */
export async function tokenOf({ id }: { id: number }): Promise<string> {
  const { accept_url } = await given(platform.get(`/invites/${id}`));
  return new URL(accept_url).searchParams.get("token") ?? "";
}

export const acceptToken = (token: unknown) => platform.post("/invites/accept", { token });

/** What an invitee does who follows the address. */
export const accept = async (invite: { id: number }) => acceptToken(await tokenOf(invite));

import { ApiError, unprocessable } from "../http/errors.ts";

/** If the room's name does not begin with an organization's slug. */
export const noOrganization = () => new ApiError(404, "not_found", "no organization");

/** @param why the reason for the log */
export const metadataUnusable = (why: string) => unprocessable("metadata_unusable", why);

/** Names the fields of a room's metadata that cannot be used, never their values. */
export const metadataAtFault = (fields: string[]) => `metadata at fault: ${fields.join(", ")}`;

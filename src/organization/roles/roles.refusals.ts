import type { Role } from "../../database/enums.ts";
import { unprocessable } from "../../http/errors.ts";
import { beyondOwnRights } from "../api_clients/api_clients.refusals.ts";

export const rolesAboveLevel = (field: string, above: readonly Role[], assignable: readonly Role[]) =>
  unprocessable(
    "role_above_level",
    `${field}: ${above.join(", ")} is above your permission level; you may assign ${assignable.join(", ")}`,
  );

export const administratorNotAssignable = (field: string) =>
  beyondOwnRights(
    `${field}: must not include organization_admin, because your API client has limited scopes or expires; use a client without these limits`,
  );

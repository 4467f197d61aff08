import type { Role } from "../../database/enums.ts";
import { unprocessable } from "../../http/errors.ts";

export const rolesAboveLevel = (field: string, above: readonly Role[], assignable: readonly Role[]) =>
  unprocessable(
    "role_above_level",
    `${field}: ${above.join(", ")} is above your permission level; you may assign ${assignable.join(", ")}`,
  );

import type { Role } from "../../database/enums.ts";
import { unprocessable } from "../../http/errors.ts";

/** @param field where the request names the roles */
export const rolesAboveLevel = (field: string, above: readonly Role[], assignable: readonly Role[]) =>
  unprocessable(
    `${field}: ${above.join(", ")} is above your permission level; you may assign ${assignable.join(", ")}`,
  );

import { ApiError } from "../../http/errors.ts";

export const invalidCode = () => new ApiError(401, "invalid_code", "Invalid code");

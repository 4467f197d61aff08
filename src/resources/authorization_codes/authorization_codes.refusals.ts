import { ApiError } from "../../http/errors.ts";

export const invalidCode = () => new ApiError(401, "Invalid code");

import { ApiError } from "../../../src/http/errors.ts";

export function refusalOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof ApiError && error.status === 422) return error.message;
    throw error;
  }
  throw new Error("The report was not refused");
}

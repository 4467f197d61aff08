/** Drizzle and D1 wrap the errors of SQLite. */
export function isCausedBy(error: unknown, isSuch: (cause: Error) => boolean): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (isSuch(cause)) return true;
  return false;
}

/** The triggers' refusal for an organization that is moving to another database, or has moved. */
export const IS_MOVING = "the organization is moving";

export const isMoving = (error: unknown): boolean =>
  isCausedBy(error, ({ message }) => message.includes(IS_MOVING));

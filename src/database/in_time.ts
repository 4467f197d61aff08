/** A database has not answered in time. It may yet do what it was asked. */
export class DatabaseTimeout extends Error {}

/**
 * What a database answers, unless it takes too long: one that is slow must not hide what the others say.
 *
 * @param limit in milliseconds
 * @throws DatabaseTimeout
 */
export async function inTime<Answer>(asked: Promise<Answer>, limit: number): Promise<Answer> {
  const { promise: tooLate, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new DatabaseTimeout("The database has not answered in time")), limit);
  try {
    return await Promise.race([asked, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

/** The database may still carry out the statement. */
export class DatabaseTimeout extends Error {}

/**
 * So that a slow database does not hold up the answers of the others.
 *
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

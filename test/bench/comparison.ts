/** The floor counts only while it gives the same bytes. */

interface Told {
  status: number;
  headers: string;
  body: string;
}

/**
 * @throws Error with both answers, where they differ in more than ids, names made for the run (see `unique`), codes, and
 * what is new in each answer
 */
export async function requireSameAnswer(operation: string, ours: Response, floor: Response) {
  const [a, b] = [await tell(ours), await tell(floor)];
  if (a.status >= 300) throw new Error(`${operation} failed: ${JSON.stringify(a)}`);
  if (JSON.stringify(a) !== JSON.stringify(b))
    throw new Error(
      `The floor answers ${operation} otherwise:\nours  ${JSON.stringify(a)}\nfloor ${JSON.stringify(b)}`,
    );
}

async function tell(response: Response): Promise<Told> {
  const headers = [...response.headers].map(([name, value]) =>
    name === "x-request-id" || name === "x-d1-bookmark" ? name : `${name}: ${masked(value)}`,
  );
  return { status: response.status, headers: headers.join("\n"), body: masked(await response.text()) };
}

const masked = (text: string) =>
  text
    .replace(/q\d+q/g, "q")
    .replace(/"((\w+_)?id)":\d+/g, '"$1":0')
    .replace(/(?<=\/bulk_invites\/)\d+/, "0")
    .replace(/(?<="code":")[\w-]{43}(?=")/, "");

/** A contender counts only while it gives the same bytes as we do. */

interface Described {
  status: number;
  headers: string;
  body: string;
}

interface Answered {
  name: string;
  response: Response;
}

/**
 * @throws Error with both answers, where they differ in more than ids, names made for the run (see `unique`), secrets,
 * and what is new in every answer
 */
export async function requireSameAnswer(operation: string, ours: Answered, others: Answered[]) {
  const a = await describe(ours.response);
  if (a.status >= 300) throw new Error(`${operation} failed: ${JSON.stringify(a)}`);
  for (const { name, response } of others) {
    const b = await describe(response);
    if (JSON.stringify(a) !== JSON.stringify(b))
      throw new Error(
        `${operation} has different answers:\nours  ${JSON.stringify(a)}\n${name} ${JSON.stringify(b)}`,
      );
  }
}

async function describe(response: Response): Promise<Described> {
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
    .replace(/(?<="(code|client_id|client_secret)":")[\w-]{22,43}(?=")/g, "")
    .replace(/(?<="secret":"whsec_)[\w+/]{43}=(?=")/g, "")
    .replace(/(?<=\?token=)[\w.-]+/, "")
    .replace(/(?<=[?&](X-Amz-Date|X-Amz-Signature|x-audit-log-id)=)\w+/g, "");

/** Reads the mails that wrangler simulates, for the demo. */
export const mailsOf = (server: string) => `${server}/cdn-cgi/local/explorer/api/local/email/sending`;

interface Mail {
  subject: string;
  text: string;
}

/** The newest mail to an address, or null if none comes within some seconds, or the server is not wrangler's. */
export async function newestMailTo(server: string, address: string): Promise<Mail | null> {
  for (let n = 0; n < 50; n++) {
    const { result } = await read(`${mailsOf(server)}?per_page=100`);
    const found = result?.find(({ to }: { to: string[] }) => to.includes(address));
    if (found)
      return (await read(`${mailsOf(server)}?email_id=${encodeURIComponent(found.messageId)}`)).result;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return null;
}

// biome-ignore lint/suspicious/noExplicitAny: wrangler's own API, whose shape it may change
async function read(url: string): Promise<any> {
  const response = await fetch(url).catch(() => null);
  return response?.ok ? response.json().catch(() => ({})) : {};
}

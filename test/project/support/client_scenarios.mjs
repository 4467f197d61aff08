/*
 * A program that uses the client package while a server fails in many ways. Each runtime runs it, so it is plain
 * JavaScript.
 * The client id says which fault to cause, and the server keeps its log by this id.
 */

const SETTINGS = { clientSecret: "secret", maxRetries: 2 };

const room = { waiting_room: { name: "Cardiology" } };

const OPERATIONS = {
  get: (visits, options) => visits.getWaitingRoom({ slug: "cardiology" }, options),
  put: (visits, options) => visits.updateWaitingRoom({ slug: "cardiology", ...room }, options),
  delete: (visits, options) => visits.retireWaitingRoom({ slug: "cardiology" }, options),
  create: (visits, options) => visits.createWaitingRoom(room, options),
  exchange: (visits, options) => visits.exchangeToken({ token_exchange: { token: "token" } }, options),
};

/** Returns the outcome of each operation with each fault, by name. */
export async function runScenarios(client, { baseUrl, runtime, faults, webhook }) {
  const visitsOf = (clientId) => client.createClient({ ...SETTINGS, baseUrl, clientId });
  const outcomes = {};
  async function run(name, action) {
    const clientId = `${runtime} ${name}`;
    outcomes[name] = await action(visitsOf(clientId), clientId).then(
      (value) => ({ value: value ?? null }),
      (error) => ({
        error: error.name,
        status: error.status ?? null,
        text: error.text ?? error.message,
        requestId: error.requestId ?? null,
      }),
    );
  }
  const runs = faults.flatMap((fault) =>
    Object.entries(OPERATIONS).map(([operation, send]) => run(`${operation}: ${fault}`, send)),
  );
  const abortedOnceSeen = abortedOnceSeenBy(baseUrl);
  runs.push(run("get: aborted while it waits for a response", abortedOnceSeen));
  runs.push(run("get: aborted between two attempts", abortedOnceSeen));
  await Promise.all(runs);
  const { secret, headers, body } = webhook;
  const verify = (text) => client.verifyWebhook(secret, headers, text);
  outcomes.webhook = (await verify(body)).type;
  outcomes.changedWebhook = await verify(body.replace("1", "2")).catch(({ name }) => name);
  return outcomes;
}

/** Aborts a request as soon as the server has it. */
const abortedOnceSeenBy = (baseUrl) => async (visits, clientId) => {
  const controller = new AbortController();
  const sent = OPERATIONS.get(visits, { signal: controller.signal });
  sent.catch(() => {});
  const seen = async () => (await fetch(`${baseUrl}/seen`, { headers: { "X-Client-ID": clientId } })).text();
  while ((await seen()) === "0") await new Promise((resolve) => setTimeout(resolve, 20));
  controller.abort(new Error("enough"));
  return sent;
};

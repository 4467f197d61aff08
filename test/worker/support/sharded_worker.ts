import worker from "../../../src/index.ts";
import { asDeployed } from "./deployed.ts";

const known = new WeakMap<Env, Env>();

function deployed(env: Env): Env {
  const before = known.get(env) ?? asDeployed(env);
  known.set(env, before);
  return before;
}

/** The Worker with several databases. Tests see the one of new organizations as `DB`. */
export default {
  fetch: (request, env, context) => worker.fetch(request, deployed(env), context),
  queue: (batch, env, context) => worker.queue(batch, deployed(env), context),
  scheduled: (controller, env) => worker.scheduled(controller, deployed(env)),
} satisfies ExportedHandler<Env>;

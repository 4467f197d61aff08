/** The static assets of a deployment, as wrangler.toml has them. */
export const PUBLIC_ASSETS = "dist/public";

/** The same, with the credentials for development filled in. Only `npm run dev` serves them. */
export const DEVELOPMENT_ASSETS = "dist/development";

/** Types of each API, and an SDK. */
export const CLIENTS = "dist/client";

/** zod as the Worker bundles it: see worker_zod.ts. */
export const WORKER_ZOD = "dist/zod";

/** The static assets of a deployment. wrangler.toml names this folder too. */
export const PUBLIC_ASSETS = "dist/public";

/** The static assets with the development credentials filled in. Only `npm run dev` serves them. */
export const DEVELOPMENT_ASSETS = "dist/development";

/** The client package of the external API, and generated SDKs of the other APIs. */
export const CLIENTS = "dist/client";

/** The versions of libraries for the Worker's bundle: see worker_libraries.ts. */
export const WORKER_ZOD = "dist/zod";
export const WORKER_TRANSLITERATE = "dist/transliterate";

import { CLINIC } from "../openapi/story.ts";

/** Public credentials for development. They are only ever loaded into a local database. */
export const DEMO_CLIENT = {
  organization: CLINIC.name,
  client_id: "demo-client",
  client_secret: "development-secret-of-the-demo-organization",
};

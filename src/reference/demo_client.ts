/** Public credentials for development. They are only ever loaded into a local database. */
export const DEMO_CLIENT = {
  organization: "Demo Clinic",
  client_id: "demo-client",
  client_secret: "development-secret-of-the-demo-organization",
};

const ID_IS_UNIQUE = "The id alone is unique, and no foreign key refers to the index: it is for reading.";

/** Rules that no test can notice the loss of, each with the reason. */
export const SURVIVORS: Record<string, string> = {
  access_logs_by_organization: ID_IS_UNIQUE,
  events_by_organization: ID_IS_UNIQUE,
  webhook_endpoints_by_organization: ID_IS_UNIQUE,
};

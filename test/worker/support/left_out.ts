/**
 * The tests that do not run a second time with every organization in a second database, by the beginning of their name
 * ("suite > test"). A name that ends in a route does not include the routes below it. These tests look past the API into the
 * database or its queries, which the directory changes, or check behavior that differs by design with several databases.
 */
export const LEFT_OUT = [
  // The directory costs an additional round trip.
  "platform API: POST /organizations > succeeds in few round trips",
  "While D1 fails, GET /organizations of the platform API > ",
  // A database that is down is left out of the list.
  "While D1 fails, GET /invites of the platform API > ",
  "An error of D1 > ",
  "The log of a whole journey > has the cause of each internal error",
  // Made-up ids belong to the first database.
  "Unknown credentials > cost ",
  "The rate limit of failed credentials > lets 600 more made-up ids reach the database",
  "An API client is looked up on the primary",
  // The first query goes to the primary of the directory.
  "If a replica finds nothing, the primary is asked > for every resource that a path names, in the platform API",
  // The health check names the database.
  "GET /health > returns 503 without details if the database ",
  "GET /health > waits for a slow database",
  // The positions in this list are opaque.
  "GET /invites of the platform API > lists the active invites of all organizations by id",
  "GET /invites of the platform API > shows the name that the platform chose",
];

/**
 * The tests that do not run a second time with every organization in a second database, by the beginnings of the names of
 * suite and test; a route does not stand for those below it. They look past the API into the database, or into what it is
 * asked, where the directory has it; or they are about what design says is otherwise with several databases.
 */
export const LEFT_OUT = [
  // The directory is asked beside the database.
  "A report of the platform costs few round trips to D1 > GET /organizations",
  "A report of the platform costs few round trips to D1 > POST /organizations",
  "While D1 fails, GET /organizations of the platform API > ",
  // A database that is down is left out of the list.
  "While D1 fails, GET /invites of the platform API > ",
  "An error of D1 > ",
  // The queue's consumer logs it, as of a message.
  "A chore that fails > because a setting is missing is logged too",
  "The log of a whole journey > has the cause of each internal error",
  // Made-up ids name the first database.
  "Unknown credentials > cost ",
  "An address whose credentials fail > reaches the database with 600 more made-up ids",
  "A client > is looked up on the primary",
  // The first question goes to the primary of the directory.
  "Where a replica finds nothing, the primary is asked > whatever the path names, in the platform API",
  // It names the database.
  "The health of the service > is 503 without details if the database ",
  "The health of the service > waits for a slow database",
  // Their positions are opaque.
  "The platform's list of active invites > goes through all organizations by id",
];

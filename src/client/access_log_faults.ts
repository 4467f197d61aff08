/** The first fault that was found in an access log, and the day that it is about. */
export class AccessLogFault extends Error {
  readonly date: string;

  constructor(date: string, fault: string) {
    super(`${date}: ${fault}`);
    this.name = "AccessLogFault";
    this.date = date;
  }
}

/** @returns a function that throws a fault of the day */
export const failing =
  (date: string): ((fault: string) => never) =>
  (fault) => {
    throw new AccessLogFault(date, fault);
  };

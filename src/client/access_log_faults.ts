/** The first fault found in an access log, and its day. */
export class AccessLogFault extends Error {
  readonly date: string;

  constructor(date: string, fault: string) {
    super(`${date}: ${fault}`);
    this.name = "AccessLogFault";
    this.date = date;
  }
}

export const failing =
  (date: string): ((fault: string) => never) =>
  (fault) => {
    throw new AccessLogFault(date, fault);
  };

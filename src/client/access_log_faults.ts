/** The first fault that was found in an access log, and the day that it is about. */
export class AccessLogFault extends Error {
  readonly date: string;

  constructor(date: string, fault: string, part: number = 1) {
    super(`${date}${part === 1 ? "" : `, part ${part}`}: ${fault}`);
    this.name = "AccessLogFault";
    this.date = date;
  }
}

/** @returns a function that throws a fault of the day */
export const failing =
  (date: string, part?: number): ((fault: string) => never) =>
  (fault) => {
    throw new AccessLogFault(date, fault, part);
  };

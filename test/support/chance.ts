/** Everything that a run leaves to chance, from one number: the same seed gives the same run on every machine. */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed * 0x9e3779b9;
  }

  /** From 0 up to 1, which is never reached (Mulberry32). */
  number(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  below = (bound: number): number => Math.floor(this.number() * bound);

  is = (probability: number): boolean => this.number() < probability;

  /** @throws RangeError if there is nothing to pick from */
  pick<Item>(items: readonly Item[]): Item {
    if (items.length === 0) throw new RangeError("There is nothing to pick from");
    return items[this.below(items.length)] as Item;
  }

  bytes<Bytes extends ArrayBufferView>(array: Bytes): Bytes {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    for (let n = 0; n < bytes.length; n++) bytes[n] = this.below(256);
    return array;
  }

  uuid(): string {
    const hex = Buffer.from(this.bytes(new Uint8Array(16))).toString("hex");
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
  }
}

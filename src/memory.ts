/** Remembers a value in a map of bounded size: the oldest entries make room. An entry that is set again is the newest. */
export function remember<Key, Value>(memory: Map<Key, Value>, key: Key, value: Value, bound: number) {
  memory.delete(key);
  for (const oldest of memory.keys()) {
    if (memory.size < bound) break;
    memory.delete(oldest);
  }
  memory.set(key, value);
}

/** What is made when it is first asked for, and then kept. An isolate starts faster without what it may never need. */
export function lazily<Value>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

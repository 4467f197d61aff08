/** Sets an entry in a map of bounded size, dropping the oldest. Setting a key again makes it the newest. */
export function remember<Key, Value>(memory: Map<Key, Value>, key: Key, value: Value, bound: number) {
  memory.delete(key);
  for (const oldest of memory.keys()) {
    if (memory.size < bound) break;
    memory.delete(oldest);
  }
  memory.set(key, value);
}

/** Makes a value on its first use. An isolate starts faster without values that it may never need. */
export function lazily<Value>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

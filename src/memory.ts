/** Setting a key again makes it the newest. */
export function remember<Key, Value>(memory: Map<Key, Value>, key: Key, value: Value, bound: number) {
  memory.delete(key);
  for (const oldest of memory.keys()) {
    if (memory.size < bound) break;
    memory.delete(oldest);
  }
  memory.set(key, value);
}

/**
 * An isolate starts faster without values that it may never need. The schema of a body, a query or a path need not be lazy: its
 * validator is. A schema with an `id` must be, because the reference accepts only one of it.
 */
export function lazily<Value>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';

/** Stores may have to start. */
const START_MS = 180_000;
const END_MS = 60_000;

/** Fixtures that have started and not ended, oldest first. */
const started: { readonly end: () => Promise<unknown> }[] = [];

/**
 * Returns an object that the tests of a file (or of a describe) share. A hook starts it, and it ends after their last test.
 * Fixtures start in their order and end in the reverse order, so a fixture can use those before it. The returned object is a
 * stand-in: tests use it as if it were the object, and a use before the hook has run throws.
 */
export function fixture<T extends object>(start: () => Promise<T>, end: (made: T) => Promise<unknown>): T {
  let made: T | undefined;
  const entry = { end: async () => made && end(made) };
  beforeAll(async () => {
    made = await start();
    started.push(entry);
  }, START_MS);
  afterAll(async () => {
    if (started.includes(entry)) await endFrom(started.indexOf(entry));
    made = undefined;
  }, END_MS);
  return standIn(() => made);
}

/** Runs `end` after the tests, before the fixtures above it end: an `afterAll` of the file's own would run after them. */
export function atEnd(end: () => unknown): void {
  fixture(
    async () => ({}),
    async () => end(),
  );
}

/** Makes a fixture as `fixture` does, but a new one for each test. */
export function testFixture<T extends object>(start: () => Promise<T>, end: (made: T) => Promise<unknown>): T {
  let made: T | undefined;
  beforeEach(async () => {
    made = await start();
  });
  afterEach(async () => {
    if (made) await end(made);
    made = undefined;
  });
  return standIn(() => made);
}

/** Ends all, also when one of them fails; throws the first failure. */
async function endFrom(index: number): Promise<void> {
  const failures: unknown[] = [];
  for (const { end } of started.splice(index).toReversed()) await end().catch((failure: unknown) => failures.push(failure));
  if (failures.length > 0) throw failures[0];
}

/** An object that does whatever the other one does. */
function standIn<T extends object>(find: () => T | undefined): T {
  const of = (): T => {
    const made = find();
    if (!made) throw new Error('a fixture is used before it has started, or after it has ended: use it in hooks and tests only');
    return made;
  };
  return new Proxy({} as T, {
    get: (_target, name) => {
      const value: unknown = Reflect.get(of(), name);
      return typeof value === 'function' ? value.bind(of()) : value;
    },
    has: (_target, name) => Reflect.has(of(), name),
    ownKeys: () => Reflect.ownKeys(of()),
    getOwnPropertyDescriptor: (_target, name) => {
      const property = Reflect.getOwnPropertyDescriptor(of(), name);
      return property && { ...property, configurable: true };
    },
  });
}

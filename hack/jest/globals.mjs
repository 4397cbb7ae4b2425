/** `@jest/globals` of the test file that runs: modules that several files of a worker share import it once. */
const current = (name) => globalThis[Symbol.for('carrel.jest')][name];
const forwarded = (name) =>
  new Proxy(() => {}, { apply: (_target, _this, args) => current(name)(...args), get: (_target, key) => current(name)[key] });

export const test = forwarded('test');
export const describe = forwarded('describe');
export const expect = forwarded('expect');
export const beforeAll = forwarded('beforeAll');
export const beforeEach = forwarded('beforeEach');
export const afterAll = forwarded('afterAll');
export const afterEach = forwarded('afterEach');

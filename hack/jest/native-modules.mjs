/**
 * Jest's `testRunner`: jest-circus as it is, with the files loaded by Node itself. Jest would load them into a context of their
 * own for each test file, with everything that they import (0.5 s of CPU a file). Here the modules of the product, of its
 * libraries and of test/support are loaded once a worker, as in production; a test file itself is loaded once anyway. The
 * message of a test that fails ends with the notes for it (failure-notes.ts), and what a test has opened ends with it
 * (test-scope.ts).
 */
import { createRequire, flushCompileCache, registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import circus from 'jest-circus/runner';
import { addNotes } from './failure-notes.ts';
import { beginTest, endTest } from './test-scope.ts';

const require = createRequire(import.meta.url);
const globals = new URL('globals.mjs', import.meta.url).href;

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === '@jest/globals' ? { url: globals, shortCircuit: true } : next(specifier, context),
});

export default async function runFile(globalConfig, config, environment, runtime, path, send) {
  const loading = {
    // The state of jest-circus is a module's: each test file gets a new one.
    requireInternalModule: (module) => {
      delete require.cache[module];
      delete globalThis[Symbol.for('EVENT_HANDLERS')];
      return require(module);
    },
    requireModule: require,
    setGlobalsForRuntime: (found) => (globalThis[Symbol.for('carrel.jest')] = found),
    unstable_shouldLoadAsEsm: () => true,
    unstable_importModule: (file) => import(pathToFileURL(file).href),
  };
  environment.handleTestEvent = async ({ name, error }) => {
    if (name === 'test_start') beginTest();
    if (name === 'test_fn_failure') await addNotes(error);
    if (name === 'test_done') await endTest();
  };
  // Jest looks for source maps in each stack trace, and Playwright takes one for each of its calls. There is nothing to look for:
  // Node strips types without moving anything.
  Error.prepareStackTrace = undefined;
  const loader = new Proxy(runtime, { get: (target, key) => loading[key] ?? bound(target, key) });
  const result = await circus.default(globalConfig, config, environment, loader, path, send);
  // A worker is ended by a signal: what it compiled would be lost.
  flushCompileCache();
  return result;
}

const bound = (target, key) => (typeof target[key] === 'function' ? target[key].bind(target) : target[key]);

/**
 * The connections of undici only. Its index also loads caches, mocks and WebSockets: 70 modules that a server does not use
 * (docs/decisions/repository.md).
 */
import { createRequire } from 'node:module';
import type undici from 'undici';

const load = createRequire(import.meta.url);

export const Agent = load('undici/lib/dispatcher/agent.js') as typeof undici.Agent;
export const Pool = load('undici/lib/dispatcher/pool.js') as typeof undici.Pool;

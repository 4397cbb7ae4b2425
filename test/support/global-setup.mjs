/** Jest's globalSetup of the lanes that need real back ends: one start for the whole run, whatever the number of workers. */
import { startTestBackends } from './backends/start-backends.ts';

export default async function setup() {
  globalThis.stopTestBackends = await startTestBackends();
}

/** Jest's globalSetup of the lanes that need real parts: one start for the whole run, whatever the number of workers. */
import { startParts } from './parts.ts';

export default async function setup() {
  globalThis.stopParts = await startParts();
}

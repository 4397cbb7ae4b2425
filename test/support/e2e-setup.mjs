/** Jest's globalSetup of the e2e lane: `carrel up` once for the run, as a person does it. */
import { startPlatform } from './programs/platform.ts';

export default async function setup() {
  globalThis.stopPlatform = await startPlatform();
}

/** Runs one bench of this checkout, with the turns that its parent gives (turns.ts), and sends its lines. */
import { once } from 'node:events';
import { BENCHES } from './benches.ts';

await once(process, 'message');
const lines = await BENCHES[process.argv[2] ?? '']?.();
process.send?.({ lines }, () => process.disconnect());

/**
 * The first import of a program, which loads the rest by `import()`: meanwhile V8's young generation stays as small as it begins.
 * Else what loading leaves behind grows it to 16 MiB and more, and a program that nobody uses gives none of that back: about 20 MB of RSS.
 */
import { setFlagsFromString } from 'node:v8';

setFlagsFromString('--semi-space-growth-factor=1');

/** To be called once the program is ready: from then on the young generation grows with the load, as V8 has it by default. */
export const endStartUp = (): void => setFlagsFromString('--semi-space-growth-factor=2');

/**
 * The first import of a program, which loads the rest by `import()`: what loading leaves behind would grow the young generation
 * to 16 MiB and more, about 20 MB of RSS.
 */
import { holdYoungGeneration } from './young-generation.ts';

/** To be called once the program is ready: from then on the young generation grows with the load. */
export const endStartUp = holdYoungGeneration();

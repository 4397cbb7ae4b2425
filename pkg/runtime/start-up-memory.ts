/**
 * A program imports this first and then loads the rest by `import()`. Otherwise the garbage of loading would grow the young
 * generation to 16 MiB and more, about 20 MB of RSS.
 */
import { holdYoungGeneration } from './young-generation.ts';

/** Call this once the program is ready. From then on the young generation grows with the load. */
export const endStartUp = holdYoungGeneration();

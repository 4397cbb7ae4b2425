import { join } from 'node:path';

/** Returns the folder where Node caches the compiled sources of a checkout. */
export const compileCacheFolder = (root: string): string => join(root, 'node_modules', '.cache', 'node');

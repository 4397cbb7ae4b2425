import { join } from 'node:path';

/** Where Node keeps what it compiled of the sources of a checkout. */
export const compileCacheFolder = (root: string): string => join(root, 'node_modules', '.cache', 'node');

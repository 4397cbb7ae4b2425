import { defineConfig, type UserConfig } from 'vite';
import { chunkGroups } from './chunks.ts';
import { latinFont } from './latin-font.ts';

/** How each document's script is built; hack/web.ts passes which, and where to. */
export default defineConfig(async (): Promise<UserConfig> => ({
  root: import.meta.dirname,
  publicDir: false,
  resolve: { alias: await latinFont() },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  logLevel: 'warn',
  build: {
    target: 'es2022',
    // Browsers that know no `modulepreload` load the same files later.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    emptyOutDir: false,
    reportCompressedSize: false,
    rolldownOptions: {
      output: { codeSplitting: { groups: chunkGroups } },
      // The welcome is a page of its own and a part of another.
      checks: { ineffectiveDynamicImport: false },
    },
  },
}));

import { join } from 'node:path';
import { defineConfig, type UserConfig } from 'vite';
import { latinFont } from './latin-font.ts';

/** The browser's pages. hack/web.ts passes `outDir`; the server reads .vite/manifest.json there (pkg/http/web-bundle.ts). */
export default defineConfig(async (): Promise<UserConfig> => ({
  root: import.meta.dirname,
  publicDir: false,
  resolve: { alias: await latinFont() },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    manifest: true,
    target: 'es2022',
    modulePreload: false,
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rolldownOptions: {
      input: {
        app: join(import.meta.dirname, 'app/main.tsx'),
        frame: join(import.meta.dirname, 'app/preview/frame/main.tsx'),
        entry: join(import.meta.dirname, 'lti/entry/main.tsx'),
        picker: join(import.meta.dirname, 'lti/picker/main.tsx'),
        reference: join(import.meta.dirname, 'reference/main.tsx'),
        registration: join(import.meta.dirname, 'lti/registration/main.ts'),
        share: join(import.meta.dirname, 'share/main.tsx'),
        storage: join(import.meta.dirname, 'lti/storage/main.ts'),
      },
    },
  },
}));

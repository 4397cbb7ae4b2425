import { readdirSync, readFileSync } from 'node:fs';
import { join, parse } from 'node:path';
import { z } from 'zod';
import type { PageLanguage } from '../api/page-language.ts';
import { escapeHtml, PageProblem, type WebContent, type WebPages, type WebScript } from '../api/page.ts';
import type { Logger } from '../runtime/log.ts';
import type { Context } from './request-state.ts';
import { BundleFiles } from './bundle-files.ts';

/** Vite's description of a document's script and of those that it loads: file, styles, fonts and imports. */
const Manifest = z.record(
  z.string(),
  z.object({
    file: z.string(),
    css: z.array(z.string()).default([]),
    assets: z.array(z.string()).default([]),
    imports: z.array(z.string()).default([]),
    isEntry: z.boolean().default(false),
  }),
);
type Manifest = z.output<typeof Manifest>;

interface Script {
  readonly file: string;
  readonly css: readonly string[];
  /** The scripts that it imports, which the browser may load at once. */
  readonly imports: readonly string[];
}

const NO_SCRIPT: Readonly<Record<PageLanguage, string>> = {
  en: 'This page needs JavaScript. Allow it for this address, then load the page again.',
  de: 'Diese Seite braucht JavaScript. Erlauben Sie es für diese Adresse, und laden Sie die Seite neu.',
};

/** The label of all files of the build. */
export const ASSETS = '/assets/{file}';

/** A year: a file's name holds the hash of its content (RFC 8246). */
const IMMUTABLE = 'public, max-age=31536000, immutable';

/**
 * The browser's pages as Vite built them from pkg/web. Only files that the build names are served. Without a build the server
 * still runs, and its pages say so. Each page shows the tenant's name, if it has one.
 */
export class WebBundle implements WebPages {
  readonly #scripts: ReadonlyMap<string, Script>;
  readonly #files: BundleFiles;
  readonly #tenantName: string | undefined;

  private constructor(scripts: ReadonlyMap<string, Script>, files: BundleFiles, tenantName: string | undefined) {
    this.#scripts = scripts;
    this.#files = files;
    this.#tenantName = tenantName;
  }

  /** Reads what is in `folder`. If it holds nothing usable, logs that in one line. */
  static load(folder: string, { tenantName, log }: { tenantName: string | undefined; log: Logger }): WebBundle {
    try {
      const manifests = manifestsIn(join(folder, '.vite'));
      const chunks = manifests.flatMap(([, manifest]) => Object.values(manifest));
      const files = new Set(chunks.flatMap(({ file, css, assets }) => [file, ...css, ...assets]));
      const scripts = manifests.flatMap(([name, manifest]) =>
        Object.entries(manifest)
          .filter(([, { isEntry }]) => isEntry)
          .map(([key, { file }]) => [name, { file, css: cssOf(manifest, key), imports: importsOf(manifest, key) }] as const),
      );
      return new WebBundle(new Map(scripts), BundleFiles.in(folder, files), tenantName);
    } catch (error) {
      log.error(
        `the browser's pages cannot be read from ${folder} (${(error as Error).message.split('\n')[0]}): ` +
          'run make build; until then they answer 503',
      );
      return new WebBundle(new Map(), BundleFiles.none, tenantName);
    }
  }

  document(script: WebScript, content: WebContent): string {
    return this.#html(content, headOf(this.#builtScript(script)));
  }

  app(language: PageLanguage): string {
    const name = this.#tenantName ?? 'Carrel';
    const named = `<meta name="application-name" content="${escapeHtml(name)}">\n`;
    const body = `<div id="app"></div>\n<noscript><main><p>${NO_SCRIPT[language]}</p></main></noscript>`;
    return html(language, name, named + headOf(this.#builtScript('app')), body);
  }

  previewFrame(language: PageLanguage): string {
    // Without an origin it gets files by CORS alone.
    const head = headOf(this.#builtScript('frame')).replaceAll('<link ', '<link crossorigin ');
    return html(language, 'Preview', head, '<div id="app"></div>');
  }

  #builtScript(script: WebScript | 'app' | 'frame'): Script {
    const built = this.#scripts.get(script);
    if (!built)
      throw new PageProblem(
        'web_not_built',
        503,
        'The pages of this service are not built. Administrators: run make build, then restart.',
        {
          messages: {
            de: 'Die Seiten dieses Dienstes sind nicht gebaut. Für die Administration: make build ausführen und neu starten.',
          },
        },
      );
    return built;
  }

  notice(content: WebContent): string {
    const built = this.#scripts.get('entry');
    return this.#html(content, built ? stylesOf(built) : '');
  }

  #html({ title, body, language = 'en' }: WebContent, head: string): string {
    const name = this.#tenantName;
    if (name === undefined) return html(language, title, head, body);
    return html(language, `${title} – ${name}`, head, `<header class="tenant">${escapeHtml(name)}</header>\n${body}`);
  }

  /**
   * Answers requests for files of the build; returns false for others. They do not count against limits: browsers cache them for
   * a year.
   */
  serve(ctx: Context): boolean {
    const file = ctx.method === 'GET' || ctx.method === 'HEAD' ? this.#files.read(ctx.path) : undefined;
    if (!file) return false;
    ctx.state.route = ASSETS;
    const coding = [...file.encoded.keys()].find((one) => ctx.acceptsEncodings(one, 'identity') === one);
    const form = (coding === undefined ? undefined : file.encoded.get(coding)) ?? file.plain;
    // Anyone may load what is the same for all: the frame of the preview has no origin of its own.
    ctx.set({ 'Cache-Control': IMMUTABLE, ETag: form.etag, 'Access-Control-Allow-Origin': '*' });
    if (file.encoded.size > 0) ctx.vary('Accept-Encoding');
    if (coding !== undefined) ctx.set('Content-Encoding', coding);
    ctx.status = 200;
    if (ctx.fresh) {
      ctx.status = 304;
      return true;
    }
    ctx.type = file.type;
    ctx.body = form.body;
    return true;
  }
}

/** Returns the names of the documents, each with its manifest. */
const manifestsIn = (folder: string): (readonly [string, Manifest])[] =>
  readdirSync(folder).map((file) => [parse(file).name, Manifest.parse(JSON.parse(readFileSync(join(folder, file), 'utf8')))]);

/** Returns the styles of a script, those of its imports first, so that its own may override them. */
function cssOf(manifest: Manifest, key: string): string[] {
  const { css = [], imports = [] } = manifest[key] ?? {};
  return [...new Set([...imports.flatMap((each) => cssOf(manifest, each)), ...css])];
}

/** Returns the scripts that a script imports, directly or through others, without those that it loads later. */
function importsOf(manifest: Manifest, key: string, found = new Set<string>()): string[] {
  for (const each of manifest[key]?.imports ?? []) {
    const { file } = manifest[each] ?? {};
    if (file === undefined || found.has(file)) continue;
    found.add(file);
    importsOf(manifest, each, found);
  }
  return [...found];
}

/** `modulepreload`: else the browser would learn of an import only from the script that has it. */
const headOf = (built: Script): string =>
  stylesOf(built) +
  built.imports.map((file) => `<link rel="modulepreload" href="/${file}">\n`).join('') +
  `<script type="module" src="/${built.file}"></script>\n`;

const stylesOf = ({ css }: Script): string => css.map((file) => `<link rel="stylesheet" href="/${file}">\n`).join('');

const html = (language: PageLanguage, title: string, head: string, body: string): string => `<!doctype html>
<html lang="${language}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
${head}${body}
</html>
`;

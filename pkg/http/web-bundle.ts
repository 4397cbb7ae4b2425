import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { lookup } from 'mrmime';
import { z } from 'zod';
import type { PageLanguage } from '../api/page-language.ts';
import { escapeHtml, PageProblem, type WebContent, type WebPages, type WebScript } from '../api/page.ts';
import type { Logger } from '../runtime/log.ts';
import type { Context } from './request-state.ts';

/** Vite's description of each script, and of shared chunks: file, styles, fonts and imports. */
const Manifest = z.record(
  z.string(),
  z.object({
    file: z.string(),
    name: z.string().optional(),
    css: z.array(z.string()).default([]),
    assets: z.array(z.string()).default([]),
    imports: z.array(z.string()).default([]),
    isEntry: z.boolean().default(false),
  }),
);
type Manifest = z.output<typeof Manifest>;

interface Asset {
  readonly body: Buffer;
  readonly type: string;
  /** The entity tag with its quotes. */
  readonly etag: string;
}

interface Script {
  readonly file: string;
  readonly css: readonly string[];
}

/** A year: a file's name holds the hash of its content (RFC 8246). */
const IMMUTABLE = 'public, max-age=31536000, immutable';

/**
 * The browser's pages as Vite built them from pkg/web, in memory. Only files that the build names are served: no request reads
 * the disk. Without a build the server still runs, and its pages say so. Each page shows the tenant's name, if it has one.
 */
export class WebBundle implements WebPages {
  readonly #scripts: ReadonlyMap<string, Script>;
  /** By path. */
  readonly #assets: ReadonlyMap<string, Asset>;
  readonly #tenantName: string | undefined;

  private constructor(scripts: ReadonlyMap<string, Script>, assets: ReadonlyMap<string, Asset>, tenantName: string | undefined) {
    this.#scripts = scripts;
    this.#assets = assets;
    this.#tenantName = tenantName;
  }

  /** Reads `folder` once. If it holds nothing usable, logs that in one line. */
  static load(folder: string, { tenantName, log }: { tenantName: string | undefined; log: Logger }): WebBundle {
    try {
      const manifest = Manifest.parse(JSON.parse(readFileSync(join(folder, '.vite/manifest.json'), 'utf8')));
      const entries = Object.values(manifest);
      const files = new Set(entries.flatMap(({ file, css, assets }) => [file, ...css, ...assets]));
      const scripts = Object.entries(manifest)
        .filter(([, { isEntry }]) => isEntry)
        .map(([key, { name = '', file }]) => [name, { file, css: cssOf(manifest, key) }] as const);
      return new WebBundle(new Map(scripts), new Map([...files].map((file) => [`/${file}`, assetOf(folder, file)])), tenantName);
    } catch (error) {
      log.error(
        `the browser's pages cannot be read from ${folder} (${(error as Error).message.split('\n')[0]}): ` +
          'run make build; until then they answer 503',
      );
      return new WebBundle(new Map(), new Map(), tenantName);
    }
  }

  document(script: WebScript, content: WebContent): string {
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
    return this.#html(content, `${stylesOf(built)}<script type="module" src="/${built.file}"></script>\n`);
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
    const asset = this.#assets.get(ctx.path);
    if (!asset || (ctx.method !== 'GET' && ctx.method !== 'HEAD')) return false;
    ctx.state.route = '/assets/{file}';
    ctx.set({ 'Cache-Control': IMMUTABLE, ETag: asset.etag });
    ctx.status = 200;
    if (ctx.fresh) {
      ctx.status = 304;
      return true;
    }
    ctx.type = asset.type;
    ctx.body = asset.body;
    return true;
  }
}

/** Returns the styles of a script, those of its imports first, so that its own may override them. */
function cssOf(manifest: Manifest, key: string): string[] {
  const { css = [], imports = [] } = manifest[key] ?? {};
  return [...new Set([...imports.flatMap((each) => cssOf(manifest, each)), ...css])];
}

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

function assetOf(folder: string, file: string): Asset {
  const body = readFileSync(join(folder, file));
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  const type = lookup(file) ?? 'application/octet-stream';
  return { body, etag, type: type.startsWith('text/') ? `${type}; charset=utf-8` : type };
}

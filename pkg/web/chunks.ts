import { join } from 'node:path';

/** What the bundler knows of a module: what imports it, at once or later. */
interface Module {
  readonly isEntry: boolean;
  readonly importers: readonly string[];
  readonly dynamicImporters: readonly string[];
}

interface Modules {
  getModuleInfo(id: string): Module | null;
}

const MAIN = join(import.meta.dirname, 'app/main.tsx');
const PAGE = /\/app\/.*-pages?\.tsx$/;
/** The pages at which people begin. */
const FILES_PAGE = /\/app\/(?:files|welcome)\/[^/]*-pages?\.tsx$/;
const GALLERY = /\/gallery\.tsx$/;
const STYLE = /\.css$/;
const COMPONENT = /\/design\/[^/]*$/;
/** The texts of a part in German, which the part's module loads where the page is in German. */
const GERMAN = /\/text\/[^/]*\.de\.ts$/;

/**
 * Returns the name of the chunk that a module of the app belongs to, or null where the bundler decides:
 * - `app`: what every page needs, what the pages of files share with others, and the styles of both;
 * - `components`: what the gallery of the design shows besides;
 * - `files`: what else the pages of files need;
 * - `pages`: what other pages share, and their styles;
 * - `german`: the German texts of `app` and `files`.
 *
 * Of these, a chunk imports only those above it, and `pages` only `app`: whatever needs a module also needs what that module
 * imports. Without them the bundler makes a chunk for each combination of pages that share a module.
 */
function chunkOf(id: string, modules: Modules): string | null {
  if (GERMAN.test(id)) {
    const parts = modules.getModuleInfo(id)?.dynamicImporters ?? [];
    return parts.some((part) => ['app', 'files'].includes(chunkOf(part, modules) ?? '')) ? 'german' : null;
  }
  const roots = rootsOf(id, modules);
  const pages = roots.filter((root) => PAGE.test(root));
  const others = pages.filter((page) => !FILES_PAGE.test(page));
  if (roots.includes(MAIN)) return 'app';
  if (pages.length > others.length) {
    if (others.length > 0 || STYLE.test(id)) return 'app';
    return roots.some((root) => GALLERY.test(root)) ? 'components' : 'files';
  }
  if (STYLE.test(id) && roots.length > 0 && roots.length === others.length) return 'pages';
  return others.length >= (COMPONENT.test(id) ? 2 : 3) ? 'pages' : null;
}

/** Returns the scripts that need this module at once: those of documents, and those that are loaded later. */
function rootsOf(id: string, modules: Modules, seen = new Set<string>()): string[] {
  const known = modules.getModuleInfo(id);
  if (seen.has(id) || !known) return [];
  seen.add(id);
  const above = known.importers.flatMap((importer) => rootsOf(importer, modules, seen));
  return known.isEntry || known.dynamicImporters.length > 0 ? [id, ...above] : above;
}

/** The groups of `output.codeSplitting`; the last has the highest priority. */
export const chunkGroups = ['german', 'pages', 'files', 'components', 'app'].map((name, priority) => ({
  name: (id: string, modules: Modules): string | null => (chunkOf(id, modules) === name ? name : null),
  debugName: name,
  priority,
}));

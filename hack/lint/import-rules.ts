/** The import rules (docs/architecture.md): which package may import which. Pure; the files come in as text. */

/** The step of most features. A package of pkg/ that is not listed belongs to it too. */
const FEATURES = ['pkg/webhooks', 'pkg/groups', 'pkg/audit', 'pkg/lti', 'pkg/helper-services', 'pkg/schedules', 'pkg/welcome'];

/**
 * The tiers from top to bottom, and the steps within each of them, also from top to bottom. A package imports packages of lower
 * tiers, of lower steps of its tier, and itself.
 */
export const TIERS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  programs: [['cmd']],
  drivers: [['pkg/operator', 'pkg/http', 'pkg/jobs', 'pkg/admin', 'pkg/local', 'pkg/helpers']],
  features: [['pkg/tenantdata'], FEATURES, ['pkg/content'], ['pkg/accounts', 'pkg/tasks', 'pkg/settings']],
  platform: [['pkg/feature'], ['pkg/access', 'pkg/events'], ['pkg/api']],
  stores: [['pkg/store', 'pkg/kube', 'pkg/net']],
  runtime: [['pkg/runtime']],
};

const STEPS = Object.values(TIERS).flat();

const CONTENT = 'pkg/content';

/** The lowest folders of pkg/content, from the bottom up; every other folder of it may import them. */
const CONTENT_GROUND: readonly string[] = ['blobs', 'model'];

/** The imports among the other folders of pkg/content. They form no circle. */
export const CONTENT_IMPORTS: Readonly<Record<string, readonly string[]>> = {
  // Lists filter by tags and metadata, and include them.
  lists: ['metadata', 'tags'],
  search: ['lists', 'tags'],
  // Archives answer ranges and name their files as a download does.
  archives: ['downloads'],
  // Whoever has the link of a folder lists it, downloads from it and uploads into it.
  sharing: ['archives', 'downloads', 'lists', 'uploads'],
  // A version is uploaded and downloaded as a file is.
  versions: ['downloads', 'uploads'],
  // An import is an upload, and its archive may be one in parts.
  imports: ['uploads'],
  // The endpoints of files and folders list them too; what they delete waits in the trash.
  files: ['lists', 'trash', 'uploads', 'versions'],
  folders: ['lists', 'trash'],
  // A batch does with many files and folders what their endpoints do with one.
  batch: ['files', 'folders', 'lists', 'metadata', 'search', 'sharing', 'tags', 'trash'],
  // An export is an archive of the items of a task.
  exports: ['archives', 'batch', 'downloads', 'lists'],
  // A link opens what the endpoints of downloads show to its giver.
  'download-links': ['archives', 'downloads', 'exports', 'versions'],
  // Upkeep runs what single jobs do, for all of a tenant; it renames folders of people who leave.
  upkeep: ['folders', 'uploads', 'versions'],
};

/** Packages that are heavy in an idle tenant's memory, and the packages that alone may load them (types are free). */
export const CONFINED: Readonly<Record<string, readonly string[]>> = {
  '@kubernetes/client-node': ['pkg/admin', 'cmd/operator'],
  bullmq: ['pkg/jobs', 'cmd/worker'],
  koa: ['pkg/http', 'cmd/server'],
  'koa-body': ['pkg/http'],
  '@cantoo/fontkit': ['pkg/helpers/pdf'],
  '@cantoo/pdf-lib': ['pkg/helpers/pdf'],
  '@jsquash/jpeg/decode.js': ['pkg/helpers/pdf'],
  '@jsquash/jpeg/encode.js': ['pkg/helpers/pdf'],
  unpdf: ['pkg/helpers/pdf'],
  undici: ['pkg/kube', 'pkg/net', 'pkg/local', 'pkg/store/s3'],
};

/** Packages that know no feature, and the packages that they may import besides themselves. */
export const FEATURELESS: Readonly<Record<string, readonly string[]>> = {
  'pkg/jobs': ['pkg/events', 'pkg/api', 'pkg/store', 'pkg/net', 'pkg/runtime'],
  'pkg/helpers': ['pkg/runtime'],
};

/** The platform on one machine. Pods never load it: `carrel` alone may, and only when it runs a command of that platform. */
const LOCAL = 'pkg/local';
const LOCAL_PROGRAM = 'cmd/carrel';

/** Migrations, whose text stays as it was applied. */
const MIGRATIONS = 'pkg/store/postgres/migrations';
/** The only file outside of a migration that it may import, beside types. */
const QUOTING = 'pkg/store/postgres/quoting.ts';
/** The only package that runs migrations. */
const STORE = 'pkg/store/postgres';

/** Folders outside of pkg/ and cmd/: the rules do not say who may use them. */
const OUTSIDE = ['crds', 'test', 'hack'];

/** The browser's pages: to the rest they speak HTTP. */
const WEB = 'pkg/web';
/** The folders of the pages, and those that each may import besides itself. */
export const WEB_IMPORTS: Readonly<Record<string, readonly string[]>> = {
  // A component gets its texts and its data from the page that shows it.
  design: [],
  api: [],
  text: [],
  // A list of uploads and how it is sent, for whoever is signed in, has a link or has launched.
  uploads: ['design', 'api', 'text'],
  app: ['design', 'api', 'text', 'uploads'],
  share: ['design', 'api', 'text', 'uploads'],
  // The API reference is for developers, in English.
  reference: ['design', 'api'],
  lti: ['design', 'text', 'uploads'],
};
/** Tests that compare what the pages are made of with codes of the server, with styles, or with what a browser shows. */
const WEB_CHECKS: readonly string[] = ['hack/web-contrast.test.ts', 'hack/web-text.test.ts', 'test/e2e/browser/german.test.ts'];

export interface Import {
  readonly from: string;
  readonly line: number;
  /** A path from the root of the checkout, or a package's name. */
  readonly to: string;
  readonly typeOnly: boolean;
  /** True for `import()`, which loads when the code runs. */
  readonly isLazy: boolean;
}

const STATEMENT = /^\s*(?:import|export)\s+(type\s+)?(?:[^'"`;]*?\sfrom\s+)?['"]([^'"]+)['"]|import\(\s*['"]([^'"]+)['"]\s*\)/gm;

/** The imports of one file; `file` is its path from the root. */
export function importsOf(file: string, text: string): Import[] {
  return [...text.matchAll(STATEMENT)].map((match) => {
    const specifier = match[2] ?? match[3] ?? '';
    return {
      from: file,
      line: text.slice(0, match.index).split('\n').length,
      to: specifier.startsWith('.') ? join(file, specifier) : specifier,
      typeOnly: match[1] !== undefined,
      isLazy: match[3] !== undefined,
    };
  });
}

function join(file: string, specifier: string): string {
  const parts = file.split('/').slice(0, -1);
  for (const part of specifier.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.') parts.push(part);
  }
  return parts.join('/');
}

/**
 * Files of one circle of imports, of types too, for each circle: such files can only be read, and moved, together.
 * A file outside of `imports` imports nothing.
 */
export function circlesOf(imports: readonly Import[]): string[][] {
  const targets = new Map<string, string[]>();
  for (const { from, to } of imports) targets.set(from, [...(targets.get(from) ?? []), to]);
  const reached = new Map([...targets.keys()].map((file) => [file, reachableFrom(file, targets)]));
  const inCircle = [...targets.keys()].filter((file) => reached.get(file)?.has(file));
  const circles = new Map<string, string[]>();
  for (const file of inCircle) {
    const circle = inCircle.filter((other) => reached.get(file)?.has(other) && reached.get(other)?.has(file)).toSorted();
    circles.set(circle.join(), circle);
  }
  return [...circles.values()];
}

function reachableFrom(file: string, targets: ReadonlyMap<string, readonly string[]>): Set<string> {
  const reached = new Set<string>();
  const next = [...(targets.get(file) ?? [])];
  for (let target = next.pop(); target !== undefined; target = next.pop()) {
    if (reached.has(target)) continue;
    reached.add(target);
    next.push(...(targets.get(target) ?? []));
  }
  return reached;
}

const isIn = (path: string, folder: string): boolean => path.startsWith(`${folder}/`);
const packageOf = (path: string): string | undefined => {
  const listed = STEPS.flat().find((name) => isIn(path, name));
  return listed ?? (isIn(path, WEB) ? undefined : /^pkg\/[^/]+(?=\/)/.exec(path)?.[0]);
};
const stepOf = (name: string): number => {
  const listed = STEPS.findIndex((packages) => packages.includes(name));
  return listed === -1 ? STEPS.indexOf(FEATURES) : listed;
};
const tierOf = (name: string): string => {
  const step = STEPS[stepOf(name)];
  return Object.keys(TIERS).find((tier) => TIERS[tier]?.some((packages) => packages === step)) ?? '';
};

const isOurs = (path: string): boolean => /^(cmd|pkg|crds|hack|test)\//.test(path);

/** Returns what is wrong with an import by a migration or of a migration. Lists (`index.ts`) and tests may import migrations. */
function complaintOfMigration({ from, to, typeOnly }: Import): string | undefined {
  const isList = (path: string): boolean => path.endsWith('/index.ts');
  if (from.endsWith('.test.ts') || isIn(from, 'test') || isIn(from, 'hack')) return undefined;
  if (isIn(from, MIGRATIONS) && !isList(from)) {
    // The files that one migration is of lie in a folder of its name.
    const ownFolder = from.replace(/\.ts$/, '');
    return typeOnly || to === QUOTING || isIn(to, ownFolder)
      ? undefined
      : `a migration imports nothing but ${QUOTING}: what it imports could change after it was applied`;
  }
  if (isIn(to, MIGRATIONS) && !isIn(from, MIGRATIONS) && !typeOnly && !(isIn(from, STORE) && isList(to)))
    return `only ${STORE} runs migrations, by their lists; a constant that both need stands in both`;
  return undefined;
}

/** Returns in words what is wrong with an import, or undefined. */
export function complaint(found: Import): string | undefined {
  const inWeb = isIn(found.from, WEB);
  if (isIn(found.to, WEB) !== inWeb && (inWeb ? isOurs(found.to) : !WEB_CHECKS.includes(found.from)))
    return `${WEB} speaks only HTTP to the rest`;
  if (inWeb) return webComplaint(found);
  const importer = packageOf(found.from);
  if (importer === undefined) return undefined;
  const ofMigration = complaintOfMigration(found);
  if (ofMigration !== undefined) return ofMigration;
  const confined = CONFINED[found.to];
  if (confined && !found.typeOnly && !confined.some((allowed) => isIn(found.from, allowed))) {
    return `only ${confined.join(', ')} may load ${found.to}`;
  }
  const target = packageOf(found.to);
  if (target === undefined) {
    const outside = OUTSIDE.find((name) => isIn(found.to, name));
    return outside === 'test' || outside === 'hack' ? `${importer} must not import ${outside}/` : undefined;
  }
  if (target === importer) return importer === CONTENT ? contentComplaint(found) : undefined;
  if (target === LOCAL && importer === 'cmd' && !(isIn(found.from, LOCAL_PROGRAM) && (found.isLazy || found.typeOnly)))
    return `${LOCAL} is the platform on one machine: only ${LOCAL_PROGRAM} may load it, and only by import()`;
  const allowed = FEATURELESS[importer];
  if (allowed && stepOf(target) > stepOf(importer) && !allowed.includes(target))
    return `${importer} knows no feature and must not import ${target}`;
  if (stepOf(target) > stepOf(importer)) return undefined;
  return stepOf(target) === stepOf(importer)
    ? `${importer} and ${target} stand side by side (${tierOf(target)}) and must not import each other`
    : `${importer} (${tierOf(importer)}) is below ${target} (${tierOf(target)}) and must not import it`;
}

function webComplaint({ from, to }: Import): string | undefined {
  const folderOf = (path: string): string | undefined => /^pkg\/web\/([^/]+)\//.exec(path)?.[1];
  const [importer, target] = [folderOf(from), folderOf(to)];
  if (importer === undefined || target === undefined || importer === target) return undefined;
  return WEB_IMPORTS[importer]?.includes(target) ? undefined : `${WEB}/${importer} must not import ${WEB}/${target}`;
}

/** The folder of pkg/content that a file is in; undefined for a file beside the folders. */
const contentFolderOf = (path: string): string | undefined => /^pkg\/content\/([^/]+)\//.exec(path)?.[1];

function contentComplaint({ from, to }: Import): string | undefined {
  const [importer, target] = [contentFolderOf(from), contentFolderOf(to)];
  if (importer === undefined || importer === target) return undefined;
  if (target === undefined) return `${CONTENT}/${importer} must not import the feature that is made of it`;
  const ground = CONTENT_GROUND.indexOf(target);
  const own = CONTENT_GROUND.indexOf(importer);
  if (own !== -1 && (ground === -1 || ground > own))
    return `${CONTENT}/${importer} is below ${CONTENT}/${target} and must not import it`;
  if (ground !== -1 || CONTENT_IMPORTS[importer]?.includes(target)) return undefined;
  return (
    `${CONTENT}/${importer} must not import ${CONTENT}/${target}: move what both need to ${CONTENT}/model, or list the ` +
    'import with its reason in CONTENT_IMPORTS'
  );
}

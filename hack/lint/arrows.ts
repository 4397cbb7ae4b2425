/** The arrows of the house (docs/architecture.md): which room may import which. Pure; the files come in as text. */

/** Lower numbers stand higher. A room imports only rooms of a higher number, and itself. */
export const FLOORS: readonly (readonly string[])[] = [
  ['cmd'],
  ['pkg/operator', 'pkg/http', 'pkg/jobs', 'pkg/local'],
  ['pkg/lti'],
  ['pkg/content'],
  ['pkg/identity'],
  ['pkg/events'],
  ['pkg/api'],
  ['pkg/store', 'pkg/kube', 'pkg/net'],
  ['pkg/runtime'],
];

/** Packages that are heavy in an idle tenant's memory, and the rooms that alone may load them (types are free). */
export const CONFINED: Readonly<Record<string, readonly string[]>> = {
  '@kubernetes/client-node': ['pkg/kube', 'pkg/operator', 'pkg/local', 'cmd/operator', 'cmd/carrel'],
  bullmq: ['pkg/jobs', 'cmd/worker'],
  koa: ['pkg/http', 'cmd/server'],
  undici: ['pkg/kube', 'pkg/net', 'pkg/local'],
};

/** Rooms beside the house: who may use them is not the check's business. */
const OUTSIDE = ['crds', 'test', 'hack'];

/** The browser's pages: to the rest they speak HTTP. */
const WEB = 'pkg/web';

export interface Import {
  readonly from: string;
  readonly line: number;
  /** A path from the root of the checkout, or a package's name. */
  readonly to: string;
  readonly typeOnly: boolean;
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

const isIn = (path: string, room: string): boolean => path.startsWith(`${room}/`);
const floorOf = (path: string): number => FLOORS.findIndex((rooms) => rooms.some((room) => isIn(path, room)));
const roomOf = (path: string): string | undefined => FLOORS.flat().find((room) => isIn(path, room));

const isOfTheHouse = (path: string): boolean => /^(cmd|pkg|crds|hack|test)\//.test(path);

/** What is wrong with an import, in words, or undefined. */
export function complaint(found: Import): string | undefined {
  const inWeb = isIn(found.from, WEB);
  if (isIn(found.to, WEB) !== inWeb && (inWeb ? isOfTheHouse(found.to) : true)) return `${WEB} speaks only HTTP to the rest`;
  const room = roomOf(found.from);
  if (room === undefined) return undefined;
  const confined = CONFINED[found.to];
  if (confined && !found.typeOnly && !confined.some((allowed) => isIn(found.from, allowed))) {
    return `only ${confined.join(', ')} may load ${found.to}`;
  }
  const target = roomOf(found.to);
  if (target === undefined) {
    const outside = OUTSIDE.find((name) => isIn(found.to, name));
    return outside === 'test' || outside === 'hack' ? `${room} must not need ${outside}/` : undefined;
  }
  if (target === room) return undefined;
  if (floorOf(found.to) > floorOf(found.from)) return undefined;
  return floorOf(found.to) === floorOf(found.from)
    ? `${room} and ${target} stand on one floor and must not know each other`
    : `the arrow goes from ${target} to ${room}, never back`;
}

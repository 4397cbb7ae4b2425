interface LockedPackage {
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

export interface Lockfile {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

/**
 * Returns the paths of the packages that the programs need, as the lockfile names them: what `npm ci` installs without the
 * development dependencies, on every platform. npm's own marks do not say it: a package that a tool brings and that a program
 * might use (an optional peer) has none.
 */
export function shippedPackages({ packages }: Lockfile): ReadonlySet<string> {
  const shipped = new Set<string>();
  const needed = ({ dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta }: LockedPackage): string[] => [
    ...Object.keys({ ...dependencies, ...optionalDependencies }),
    ...Object.keys(peerDependencies ?? {}).filter((name) => !peerDependenciesMeta?.[name]?.optional),
  ];
  /** Where `name` is found from a package at `path`, as Node looks for it. */
  const found = (path: string, name: string): string | undefined => {
    for (let at = path; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
      const candidate = at === '' ? `node_modules/${name}` : `${at}/node_modules/${name}`;
      if (packages[candidate]) return candidate;
      if (at === '') return undefined;
    }
  };
  const add = (path: string): void => {
    for (const name of needed(packages[path] ?? { version: '' })) {
      const at = found(path, name);
      if (at === undefined || shipped.has(at)) continue;
      shipped.add(at);
      add(at);
    }
  };
  add('');
  return shipped;
}

/**
 * Prints the bill of materials of the image: CycloneDX by npm, from the lockfile: `make sbom`. Packages of every platform are in
 * it; those of the tests are not. What the pages have of a package is part of the image too, although only the build needs that
 * package.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { type Lockfile, shippedPackages } from './shipped-packages.ts';

/** Packages of which the pages have a part. */
const BUNDLED = ['@fontsource-variable/inter', 'marked', 'pdfjs-dist', 'preact', 'preact-iso', 'uqr'];

interface Component {
  'bom-ref': string;
  name: string;
  version: string;
}
interface Bom {
  metadata: { component: Component };
  components: Component[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

/** Covers all packages. With `--omit dev`, npm leaves out what tools and programs both use. */
function npmSbom(): Bom {
  const args = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx', '--sbom-type', 'application'];
  const { status, stdout, stderr, error } = spawnSync('npm', args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  if (status !== 0) throw new Error(`npm sbom: ${stderr}${error ?? ''}`);
  return JSON.parse(stdout) as Bom;
}

/** `name@version` of what the image has. */
function shippedVersions(): Set<string> {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as Lockfile;
  const ofPages = BUNDLED.map((name) => `node_modules/${name}`);
  return new Set(
    [...shippedPackages(lock), ...ofPages].map((path) => `${path.split('node_modules/').at(-1)}@${lock.packages[path]?.version}`),
  );
}

const bom = npmSbom();
const shipped = shippedVersions();
// npm names it after the folder.
bom.metadata.component.name = 'carrel';
bom.components = bom.components.filter(({ name, version }) => shipped.has(`${name}@${version}`));
const refs = new Set([bom.metadata.component, ...bom.components].map((component) => component['bom-ref']));
bom.dependencies = bom.dependencies
  .filter(({ ref }) => refs.has(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => refs.has(other)) }));
process.stdout.write(`${JSON.stringify(bom, null, 2)}\n`);

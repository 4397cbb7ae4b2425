import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const MODULES = join(import.meta.dirname, '../../../hack/binaries');
/** What most of the programs import, and most of what a build compiles (docs/decisions/repository.md). */
const SHARED = /^\t(?<name>(?:golang\.org\/x|k8s\.io)\/\S+) (?<version>v\S+)/gm;
/** kubeconform needs a newer one than Kubernetes, for a few small packages that take no time. */
const EXCEPTION = 'kubeconform k8s.io/kube-openapi';
/** Stands in go.mod for the version of a `replace`. */
const REPLACED = 'v0.0.0';

test('programs that are built from source share the versions of k8s.io and golang.org/x, so that each is compiled once', () => {
  const versions = new Map<string, Map<string, string[]>>();
  for (const module of readdirSync(MODULES)) {
    for (const { groups = {} } of readFileSync(join(MODULES, module, 'go.mod'), 'utf8').matchAll(SHARED)) {
      const { name = '', version = '' } = groups;
      if (version === REPLACED || `${module} ${name}` === EXCEPTION) continue;
      const users = versions.get(name) ?? new Map<string, string[]>();
      versions.set(name, users.set(version, [...(users.get(version) ?? []), module]));
    }
  }
  const differing = [...versions].filter(([, users]) => users.size > 1);

  expect(differing.map(([name, users]) => ({ name, ...Object.fromEntries(users) }))).toEqual([]);
  expect(versions.get('k8s.io/client-go')?.values().next().value?.length).toBeGreaterThan(3);
});

import { existsSync, globSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { importsOf } from './import-rules.ts';

const PDF_LIBRARIES = /^(@cantoo\/|@jsquash\/|unpdf$)/;

/** The packages that a file loads, with all that it imports. */
function packagesOf(file: string): Set<string> {
  const seen = new Set<string>();
  const packages = new Set<string>();
  const next = [file];
  for (let path = next.pop(); path !== undefined; path = next.pop()) {
    if (seen.has(path)) continue;
    seen.add(path);
    for (const { to, typeOnly } of importsOf(path, readFileSync(path, 'utf8'))) {
      if (typeOnly) continue;
      if (existsSync(to)) next.push(to);
      else packages.add(to);
    }
  }
  return packages;
}

test('no program loads the libraries for PDFs: the processes that convert one do', () => {
  const programs = globSync('cmd/*/main.ts');
  const scripts = globSync('pkg/helpers/pdf/*/main.ts');
  const loads = (file: string): boolean => [...packagesOf(file)].some((name) => PDF_LIBRARIES.test(name));

  expect(programs.length).toBeGreaterThan(4);
  expect(programs.filter(loads)).toEqual([]);
  expect(scripts.filter(loads)).toEqual(scripts);
});

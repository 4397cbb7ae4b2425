import { expect, test } from '@jest/globals';
import { kubectlEdit, kubectlPatch, kubectlShow } from './kubectl-line.ts';

/**
 * Returns the arguments that a POSIX shell gives to kubectl (Shell Command Language, Quoting): what stands between single quotes
 * is itself, a backslash outside of them quotes one character. Throws for what else a shell would read.
 */
function readByShell(line: string): string[] {
  const rest = line.replaceAll(/'[^']*'|\\./gs, '');
  if (/[^\w ./:=@%+,-]/.test(rest)) throw new Error(`a shell reads more than words in ${rest}`);
  return [...line.matchAll(/(?:'[^']*'|\\.|[^\s'\\])+/gs)]
    .map(([word]) => word.replaceAll(/'([^']*)'|\\(.)/gs, (_all, quoted?: string, one?: string) => quoted ?? one ?? ''))
    .slice(1);
}

test('a line names the namespace and the name of the resource, and the kind alone where they are not known', () => {
  expect([
    kubectlEdit('tenant', 'faculty/biology'),
    kubectlEdit('webhook', null),
    kubectlShow('tenant', 'faculty/biology'),
    kubectlPatch('tenant', 'faculty/biology', { limits: { storage: '100Gi' } }),
  ]).toEqual([
    'kubectl edit tenant -n faculty biology',
    'kubectl edit webhook',
    'kubectl get tenant -n faculty biology -o yaml',
    `kubectl patch tenant -n faculty biology --type merge -p '{"spec":{"limits":{"storage":"100Gi"}}}'`,
  ]);
});

test.each([
  `Queen's College`,
  `''; echo "$HOME" \`id\` $(id) \\ !! &`,
  'two\nlines\tand a \u007f',
  'Größe 学院',
  'right \u202e to left \u2028 and hidden \u{e0041}',
])('a shell and JSON read the value %j as it is, and all of it can be seen', (displayName) => {
  const line = kubectlPatch('tenant', 'faculty/biology', { displayName });
  const words = readByShell(line);

  expect(words.slice(0, -1)).toEqual(['patch', 'tenant', '-n', 'faculty', 'biology', '--type', 'merge', '-p']);
  expect(JSON.parse(words.at(-1) ?? '')).toEqual({ spec: { displayName } });
  expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
});

test('a resource with another name than Kubernetes gives stays one word each', () => {
  expect(readByShell(kubectlEdit('tenant', 'a b;c/$(id)'))).toEqual(['edit', 'tenant', '-n', 'a b;c', '$(id)']);
});

/** Lines for a shell by which somebody shows or changes what a Kubernetes resource defines. */

/** What no shell reads as anything but itself. */
const PLAIN = /^[\w./:=@%+,-]+$/;
/** Characters that nobody sees: with them a line could look like another one. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Returns a word as a POSIX shell takes it, whatever it holds. */
const quoted = (word: string): string => (PLAIN.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`);

const codeOf = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
const jsonOf = (value: object): string =>
  JSON.stringify(value).replaceAll(UNSEEN, (character) => character.split('').map(codeOf).join(''));

/** `resource`: its namespace and name (`faculty/biology`); null: the line names the kind alone. */
function argumentsOf(kind: string, resource: string | null): string {
  const [namespace = '', name] = resource?.split('/') ?? [];
  return name === undefined ? kind : `${kind} -n ${quoted(namespace)} ${quoted(name)}`;
}

/** Returns the line that opens a resource in an editor. */
export const kubectlEdit = (kind: string, resource: string | null): string => `kubectl edit ${argumentsOf(kind, resource)}`;

/** Returns the line that prints all that a resource defines. */
export const kubectlShow = (kind: string, resource: string): string => `kubectl get ${argumentsOf(kind, resource)} -o yaml`;

/** Returns the line that changes fields of a resource's `spec`; the others stay. */
export const kubectlPatch = (kind: string, resource: string, spec: object): string =>
  `kubectl patch ${argumentsOf(kind, resource)} --type merge -p ${quoted(jsonOf({ spec }))}`;

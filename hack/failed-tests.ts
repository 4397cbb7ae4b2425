import { stripVTControlCharacters } from 'node:util';

/** What jest writes of a run with `--json`, as far as it is read here. */
export interface TestFileResult {
  readonly name: string;
  /** Says why a file broke outside of its tests; jest repeats the failures of its tests there. */
  readonly message: string;
  readonly status: string;
  readonly assertionResults: readonly {
    readonly status: string;
    readonly fullName: string;
    readonly failureMessages?: readonly string[] | null;
    /** ms */
    readonly duration?: number | null;
  }[];
}

const LINE_MAX = 400;

/** Returns two lines for each failed test: its file and name, and the start of its message. `root`: the repository's folder. */
export function failedTests(files: readonly TestFileResult[], root: string): string[] {
  return files.flatMap(({ name, message, status, assertionResults }) => {
    const file = name.startsWith(`${root}/`) ? name.slice(root.length + 1) : name;
    const failed = assertionResults.filter((test) => test.status === 'failed');
    if (failed.length === 0) return status === 'failed' ? [`✕ ${file}`, `    ${beginning(message)}`] : [];
    return failed.flatMap(({ fullName, failureMessages }) => [
      `✕ ${file}: ${fullName}`,
      `    ${beginning(failureMessages?.[0] ?? '')}`,
    ]);
  });
}

/** The terminal's colours are left out: the lines are read in logs of CI. */
function beginning(message: string): string {
  const lines = stripVTControlCharacters(message).split('\n');
  const line = lines.map((each) => each.trim()).find((each) => each !== '' && !each.startsWith('●')) ?? 'no message';
  return line.length > LINE_MAX ? `${line.slice(0, LINE_MAX)}…` : line;
}

import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Frame, Page } from 'playwright-core';

const source = readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly target: readonly string[]; readonly failureSummary?: string }[];
}

/**
 * Returns the violations of all rules of axe-core: rule, element and explanation. The page's policy does not block this script.
 */
export async function axeFindings(shown: Page | Frame): Promise<string[]> {
  await shown.evaluate(await source);
  const violations = await shown.evaluate<Violation[]>(
    `axe.run(document, { iframes: false }).then(({ violations }) => violations)`,
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary = '' }) => `${id}: ${target.join(' ')}: ${failureSummary.replaceAll(/\s+/g, ' ')}`),
  );
}

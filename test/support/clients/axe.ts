import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Frame, Page } from 'playwright-core';

const source = readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly target: readonly string[]; readonly failureSummary?: string }[];
}

/** The rules whose findings depend on colours. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];

/** Colours in the middle of a transition are nobody's design. What turns for ever is not waited for. */
const AT_REST = `Promise.all(
  document
    .getAnimations()
    .filter(({ playState, effect }) => playState === 'running' && Number.isFinite(effect?.getComputedTiming().endTime))
    .map(({ finished }) => finished.catch(() => undefined)),
).then(() => undefined)`;

/**
 * Returns the violations of all rules of axe-core, or of those about colours: rule, element and explanation. The page's policy
 * does not block this script.
 */
export async function axeFindings(shown: Page | Frame, of: 'all rules' | 'colours' = 'all rules'): Promise<string[]> {
  if (!(await shown.evaluate<boolean>(`'axe' in window`))) await shown.evaluate(await source);
  await shown.evaluate(AT_REST);
  const options = { iframes: false, ...(of === 'colours' ? { runOnly: COLOUR_RULES } : {}) };
  const violations = await shown.evaluate<Violation[]>(
    `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => violations)`,
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary = '' }) => `${id}: ${target.join(' ')}: ${failureSummary.replaceAll(/\s+/g, ' ')}`),
  );
}

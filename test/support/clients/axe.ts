import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Frame, Page } from 'playwright-core';

const source = readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly target: readonly string[]; readonly failureSummary?: string }[];
}

/**
 * Which rules of axe-core are run. `all rules`: those that axe runs by itself; `all of WCAG 2.2`: with the size of targets
 * (2.5.8), which axe leaves out unless it is asked. `colours`: those whose findings depend on colours; `enhanced colours`: with
 * the contrast of 1.4.6 besides that of 1.4.3; `targets`: their size alone.
 */
const OPTIONS = {
  'all rules': {},
  'all of WCAG 2.2': { rules: { 'target-size': { enabled: true } } },
  colours: { runOnly: ['color-contrast', 'link-in-text-block'] },
  'enhanced colours': { runOnly: ['color-contrast', 'color-contrast-enhanced', 'link-in-text-block'] },
  targets: { runOnly: ['target-size'] },
} as const;
export type Rules = keyof typeof OPTIONS;

/** Colours in the middle of a transition are nobody's design. What turns for ever is not waited for. */
const AT_REST = `Promise.all(
  document
    .getAnimations()
    .filter(({ playState, effect }) => playState === 'running' && Number.isFinite(effect?.getComputedTiming().endTime))
    .map(({ finished }) => finished.catch(() => undefined)),
).then(() => undefined)`;

/** Returns the violations of rules: rule, element and explanation. The page's policy does not block this script. */
export async function axeFindings(shown: Page | Frame, rules: Rules = 'all rules'): Promise<string[]> {
  if (!(await shown.evaluate<boolean>(`'axe' in window`))) await shown.evaluate(await source);
  await shown.evaluate(AT_REST);
  const violations = await shown.evaluate<Violation[]>(
    `axe.run(document, ${JSON.stringify({ iframes: false, ...OPTIONS[rules] })}).then(({ violations }) => violations)`,
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary = '' }) => `${id}: ${target.join(' ')}: ${failureSummary.replaceAll(/\s+/g, ' ')}`),
  );
}

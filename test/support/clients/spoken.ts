import type { Page } from 'playwright-core';

/**
 * Records what a screen reader says by itself from now on: texts that come into a live region (WAI-ARIA 1.2, 6.7), and alerts
 * that come with their text. A region that is removed or emptied says nothing. Returns how to read the record.
 */
export async function listen(page: Page): Promise<() => Promise<string[]>> {
  await page.evaluate(`(() => {
    window.spoken = [];
    const REGIONS = '[role=status], [role=alert], [role=log], [aria-live=polite], [aria-live=assertive]';
    const elementOf = (node) => node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement;
    const say = (text) => {
      const read = text.replaceAll(/\\s+/g, ' ').trim();
      if (read !== '') window.spoken.push(read);
    };
    new MutationObserver((changes) => {
      const whole = new Set();
      const alone = new Set();
      for (const { type, target, addedNodes } of changes) {
        const region = elementOf(target)?.closest(REGIONS);
        if (region?.getAttribute('aria-atomic') === 'false') for (const node of addedNodes) alone.add(node);
        else if (region && (type === 'characterData' || addedNodes.length > 0)) whole.add(region);
        if (!region)
          for (const node of addedNodes)
            for (const alert of elementOf(node)?.parentElement?.querySelectorAll('[role=alert]') ?? [])
              if (node === alert || node.contains(alert)) whole.add(alert);
      }
      for (const region of whole) if (region.isConnected) say(region.textContent);
      for (const node of alone) if (node.isConnected) say(node.textContent);
    }).observe(document, { subtree: true, childList: true, characterData: true });
  })()`);
  return () => page.evaluate<string[]>('window.spoken');
}

import './style.css';
import { exchange, storageWindow } from './exchange.ts';

/** A platform that has not answered by then does not store anything for us. */
const TIMEOUT_MS = 3_000;

const element = document.querySelector<HTMLElement>('#exchange');
if (element) await run(element);

/**
 * At login: puts the value, then continues in any case, since a cookie may also bind the launch. At the launch: gets the value,
 * then posts it.
 */
async function run({ dataset }: HTMLElement): Promise<void> {
  const { step, frame = '', origin = '', key = '', value = '', next = '' } = dataset;
  const target = storageWindow<Window>(window as Window & { parent: Window; opener: Window | null }, frame);
  const to = target && { target, origin, listener: window, messageId: crypto.randomUUID(), timeoutMs: TIMEOUT_MS };
  if (step === 'put') {
    if (to) await exchange({ subject: 'lti.put_data', key, value }, to);
    location.replace(next);
    return;
  }
  const stored = to && (await exchange({ subject: 'lti.get_data', key }, to));
  const form = document.querySelector('form');
  const field = form?.elements.namedItem('stored');
  if (field instanceof HTMLInputElement) field.value = stored ?? '';
  form?.submit();
}

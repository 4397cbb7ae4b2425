import { setFlagsFromString } from 'node:v8';

let holders = 0;

/**
 * Holds V8's young generation at its current size until every holder has called the returned function. For work that leaves much
 * garbage and little else: the young generation would grow to its maximum, and an idle program returns none of that memory.
 */
export function holdYoungGeneration(): () => void {
  let isHeld = true;
  holders += 1;
  setFlagsFromString('--semi-space-growth-factor=1');
  return () => {
    if (!isHeld) return;
    isHeld = false;
    holders -= 1;
    // V8's default: the young generation grows with the load.
    if (holders === 0) setFlagsFromString('--semi-space-growth-factor=2');
  };
}

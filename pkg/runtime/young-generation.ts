import { setFlagsFromString } from 'node:v8';

let holders = 0;

/**
 * Keeps V8's young generation as large as it is, until every holder has called what this returns: for work that leaves much
 * garbage and little else. It would grow to its maximum, and a program that nobody uses gives none of that back.
 */
export function holdYoungGeneration(): () => void {
  let isHeld = true;
  holders += 1;
  setFlagsFromString('--semi-space-growth-factor=1');
  return () => {
    if (!isHeld) return;
    isHeld = false;
    holders -= 1;
    // V8's default: it grows with the load.
    if (holders === 0) setFlagsFromString('--semi-space-growth-factor=2');
  };
}

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Container, expand, NotStartable } from './environment.ts';

/**
 * Requires an image that this node can run. There are no images here: `carrel:<any tag>` stands for the checkout, run by this
 * Node; every other image cannot be pulled. It runs first, as a kubelet pulls before it looks at settings.
 */
export function requireImage({ image = '' }: Container): void {
  if (/^carrel(:|@|$)/.test(image)) return;
  throw new NotStartable(
    'ErrImagePull',
    `image ${image} is unavailable: the process node runs only carrel:* (this checkout). ` +
      'A real cluster runs any image (docs/operate/install.md).',
  );
}

/**
 * Returns the command line of a container. The image's working folder is the built `dist/`, so a `.js` of ours is its `.ts` in
 * the checkout.
 */
export function commandOf(container: Container, environment: Readonly<Record<string, string>>, root: string): string[] {
  const words = [...(container.command ?? []), ...(container.args ?? [])].map((word) => expand(word, environment));
  const [program, ...args] = words;
  if (program === undefined) throw new NotStartable('RunContainerError', `container ${container.name} has no command`);
  return [program === 'node' ? process.execPath : program, ...args.map((word) => asSource(word, root))];
}

function asSource(word: string, root: string): string {
  const source = word.replace(/\.js$/, '.ts');
  return source !== word && !existsSync(join(root, word)) && existsSync(join(root, source)) ? source : word;
}

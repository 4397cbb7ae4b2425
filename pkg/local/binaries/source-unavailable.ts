/** Says why a source of a binary does not have it; then the next source is tried. An empty message is not reported. */
export class SourceUnavailable extends Error {
  override readonly name = 'SourceUnavailable';
}

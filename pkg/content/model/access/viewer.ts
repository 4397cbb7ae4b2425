/** The viewer of the list: what they own, and their grants of the level that the list requires. */
export interface Viewer {
  readonly userId: number;
  readonly files: readonly string[];
  readonly folders: readonly string[];
  /** The folders that are granted to them at any level: those that they may know of. */
  readonly known: readonly string[];
}

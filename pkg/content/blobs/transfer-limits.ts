import { LONGEST_UPLOAD_MS } from '../../store/s3/upload-day.ts';

/**
 * The limits of uploads and downloads in progress on one server. Each server counts its own, because the limits protect its own
 * memory and connections.
 */
export interface TransferLimits {
  /** Concurrent uploads and downloads of one person. */
  readonly perPerson: number;
  /** Concurrent downloads, archives included: as many as a pod of 512 MiB has memory for. */
  readonly downloads: number;
  /** Downloads by share links: half of all, so that users who sign in always get a download. */
  readonly byLinks: number;
  /** Downloads by the links of one person, and to one network: a class behind one address opens a hand-out. */
  readonly byLinksOfOwner: number;
  readonly byLinksToNetwork: number;
  /** Concurrent uploads by the links of one person, from one network, and by all links. They share the buffers of all uploads. */
  readonly uploadsByLinksOfOwner: number;
  readonly uploadsByLinksFromNetwork: number;
  readonly uploadsByLinks: number;
  /** Concurrent archives, and those of one person: each holds files that it reads ahead. */
  readonly archives: number;
  readonly archivesPerPerson: number;
  /** Archives by the links of one person, and to one network; all links together have half of the archives. */
  readonly archivesByLinks: number;
  /**
   * Bytes that the directories of all archives may hold; one archive, and those of one person, half of it: some 100,000 entries.
   */
  readonly archiveBytes: number;
  /** Whenever the server has waited this long for a client, in total, the client must have moved the least rate in that time. */
  readonly measuredMs: number;
  readonly leastBytesPerSecond: number;
  /** The least rate of a download while all slots are taken: it rises from half of them on. */
  readonly leastBytesPerSecondWhenFull: number;
  readonly longestMs: number;
}

export const TRANSFER_LIMITS: TransferLimits = {
  perPerson: 20,
  downloads: 1_000,
  byLinks: 500,
  byLinksOfOwner: 400,
  byLinksToNetwork: 400,
  uploadsByLinksOfOwner: 50,
  uploadsByLinksFromNetwork: 50,
  uploadsByLinks: 100,
  archives: 64,
  archivesPerPerson: 4,
  archivesByLinks: 16,
  archiveBytes: 32 << 20,
  measuredMs: 60_000,
  leastBytesPerSecond: 1024,
  leastBytesPerSecondWhenFull: 32 * 1024,
  longestMs: LONGEST_UPLOAD_MS,
};

/** Returns the bytes a second that a download must move while this share (0 to 1) of the downloads is taken. */
export function leastRate(
  {
    leastBytesPerSecond: least,
    leastBytesPerSecondWhenFull: whenFull,
  }: Pick<TransferLimits, 'leastBytesPerSecond' | 'leastBytesPerSecondWhenFull'>,
  taken: number,
): number {
  const beyondHalf = Math.min(1, Math.max(0, taken - 0.5) * 2);
  return least + Math.max(0, whenFull - least) * beyondHalf;
}

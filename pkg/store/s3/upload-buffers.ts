import { MIB } from '../../runtime/bytes.ts';
import { BufferPool } from './buffer-pool.ts';

/** The buffer that every upload gets at once, so that a small file does not wait. */
export const FIRST_BUFFER_BYTES = 64 * 1024;

/** The size of a part; a body that is not longer is sent in one request. */
export const PART_BYTES = 8 * MIB;
/**
 * The buffers of all uploads of this process: 48 MiB for uploads that are still small, and 144 MiB for parts. The latter are as
 * large as every part except the last.
 */
export const UPLOAD_BUFFERS = {
  small: new BufferPool({ size: MIB, most: 48, maxIdle: 8 }),
  part: new BufferPool({ size: PART_BYTES, most: 18, maxIdle: 3 }),
} as const;

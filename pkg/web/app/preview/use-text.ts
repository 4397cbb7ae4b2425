import { useRef, useState } from 'preact/hooks';
import type { ApiProblem } from '../../api/problem.ts';
import type { Entry } from '../files/entry.ts';
import { useClient } from '../services.ts';
import { useLoaded } from '../use-loaded.ts';
import { TextParts } from './text-parts.ts';

/** Bytes that are loaded at once: a text of 100 MB opens as quickly as a short one. */
const PART_BYTES = 1024 * 1024;

interface Read {
  readonly text: string;
  /** Bytes that have been read. */
  readonly to: number;
}

export interface TextOfFile extends Partial<Read> {
  readonly isLoading: boolean;
  readonly problem: ApiProblem | undefined;
  readonly isWhole: boolean;
  readonly more: () => void;
  readonly reload: () => void;
}

interface Events {
  /** The file is no text. */
  readonly onBinary: () => void;
  /** The file was replaced since its first part was read. */
  readonly onChanged: () => void;
}

/** Reads a file as text, part by part. */
export function useText({ id, size }: Entry, { onBinary, onChanged }: Events): TextOfFile {
  const client = useClient();
  const total = size ?? 0;
  const [parts, setParts] = useState(1);
  const read = useRef<(Read & { readonly decoder: TextParts; readonly etag: string | null }) | undefined>(undefined);

  const { value, problem, isLoading, reload } = useLoaded(
    async (signal): Promise<Read | undefined> => {
      const from = read.current?.to ?? 0;
      const headers = { range: `bytes=${from}-${Math.min(from + PART_BYTES, total) - 1}` };
      const reply = await client.send('GET', '/files/{id}/download', { path: { id }, headers, signal });
      const bytes = new Uint8Array(await reply.arrayBuffer());
      const decoder = read.current?.decoder ?? TextParts.of(bytes);
      if (!decoder) {
        onBinary();
        return undefined;
      }
      const to = from + bytes.length;
      const etag = reply.headers.get('etag');
      if (read.current && read.current.etag !== etag) {
        // Parts of two versions do not fit together.
        onChanged();
        return { text: read.current.text, to: total };
      }
      const text = `${read.current?.text ?? ''}${decoder.next(bytes, to >= total)}`;
      read.current = { text, to, decoder, etag };
      return { text, to };
    },
    [id, parts],
  );
  const shown = value ?? read.current;
  return {
    ...(shown ? { text: shown.text, to: shown.to } : {}),
    isLoading,
    problem,
    isWhole: shown !== undefined && shown.to >= total,
    more: () => setParts((before) => before + 1),
    reload,
  };
}

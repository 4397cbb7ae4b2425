import { encode } from 'uqr';
import './qr-code.css';

/** Modules of white around the code, without which cameras do not find it (ISO/IEC 18004). */
const QUIET_ZONE = 4;

interface Props {
  readonly text: string;
  /** Says what the code holds: "QR code of the link". */
  readonly label: string;
}

/** A QR code, black on white in every theme: cameras expect it so. */
export function QrCode({ text, label }: Props) {
  const { data, size } = encode(text, { ecc: 'M', border: QUIET_ZONE });
  const path = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])));
  return (
    <svg class="c-qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label} shape-rendering="crispEdges">
      <rect width={size} height={size} fill="#ffffff" />
      <path d={path.join('')} fill="#000000" />
    </svg>
  );
}

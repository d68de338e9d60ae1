import { isUtf8 } from 'node:buffer'
import { FileError, type Snapshot, type WorkspacePath } from '../../workspace/index.ts'
import { countOf } from './tool-output.ts'

export const headBytes = 8_192

/** The kind of a binary file, by its first bytes; undefined for text. */
export function binaryKind(head: Uint8Array): string | undefined {
  const known = signatures.find(({ at = 0, bytes }) => bytes.every((byte, index) => head[at + index] === byte))
  // A text may begin with a signature, but has no NUL.
  if (!head.includes(0) && !known?.isSure) return undefined
  return known?.kind ?? 'binary file'
}

interface Signature {
  readonly kind: string
  readonly bytes: readonly number[]
  readonly at?: number
  /** It cannot be the beginning of a text. */
  readonly isSure?: boolean
}

const ascii = (text: string): readonly number[] => [...text].map((letter) => letter.charCodeAt(0))

const signatures: readonly Signature[] = [
  { kind: 'PNG image', bytes: [0x89, ...ascii('PNG')], isSure: true },
  { kind: 'JPEG image', bytes: [0xff, 0xd8, 0xff], isSure: true },
  { kind: 'GIF image', bytes: ascii('GIF8') },
  { kind: 'WebP image', bytes: ascii('WEBP'), at: 8 },
  { kind: 'BMP image', bytes: ascii('BM') },
  { kind: 'PDF document', bytes: ascii('%PDF-'), isSure: true },
  { kind: 'ZIP archive', bytes: [...ascii('PK'), 3, 4], isSure: true },
  { kind: 'gzip archive', bytes: [0x1f, 0x8b], isSure: true },
  { kind: 'bzip2 archive', bytes: ascii('BZh') },
  { kind: 'xz archive', bytes: [0xfd, ...ascii('7zXZ')], isSure: true },
  { kind: 'zstd archive', bytes: [0x28, 0xb5, 0x2f, 0xfd], isSure: true },
  { kind: '7z archive', bytes: [...ascii('7z'), 0xbc, 0xaf], isSure: true },
  { kind: 'tar archive', bytes: ascii('ustar'), at: 257 },
  { kind: 'ELF program', bytes: [0x7f, ...ascii('ELF')], isSure: true },
  { kind: 'Mach-O program', bytes: [0xcf, 0xfa, 0xed, 0xfe], isSure: true },
  { kind: 'Windows program', bytes: ascii('MZ') },
  { kind: 'Java class or Mach-O program', bytes: [0xca, 0xfe, 0xba, 0xbe], isSure: true },
  { kind: 'WebAssembly module', bytes: [0, ...ascii('asm')] },
  { kind: 'SQLite database', bytes: ascii('SQLite format 3') },
  { kind: 'MP4 video', bytes: ascii('ftyp'), at: 4 },
  { kind: 'Ogg media', bytes: ascii('OggS') },
  { kind: 'RIFF media', bytes: ascii('RIFF') },
  { kind: 'UTF-16 text', bytes: [0xff, 0xfe], isSure: true },
  { kind: 'UTF-16 text', bytes: [0xfe, 0xff], isSure: true },
]

type Decoded =
  | { readonly kind: 'text'; readonly text: string; readonly hasBom: boolean }
  | { readonly kind: 'binary'; readonly what: string }

const bom = [0xef, 0xbb, 0xbf]

/** A whole file as text, if it can be written back without loss. */
export function decodeFile(bytes: Uint8Array): Decoded {
  const what = binaryKind(bytes.subarray(0, headBytes))
  if (what !== undefined || bytes.includes(0)) return { kind: 'binary', what: what ?? 'binary file' }
  if (!isUtf8(bytes)) return { kind: 'binary', what: 'text in another encoding than UTF-8' }
  const hasBom = bom.every((byte, index) => bytes[index] === byte)
  return { kind: 'text', text: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8', hasBom ? 3 : 0), hasBom }
}

export const encodeText = (text: string, hasBom: boolean): string => (hasBom ? `\uFEFF${text}` : text)

/** An edit holds the whole file in memory several times. */
export const largestEditable = 16 * 1024 * 1024

/** The text of a file that is edited. */
export function textOfSnapshot(
  { bytes, size }: Extract<Snapshot, { readonly kind: 'file' }>,
  { relative }: WorkspacePath,
): Extract<Decoded, { readonly kind: 'text' }> {
  if (bytes === undefined) {
    throw new FileError(
      'invalid_input',
      `${relative} is too large to edit: ${countOf(size, 'byte')}.`,
      `At most ${countOf(largestEditable, 'byte')} are allowed. Use a shell command.`,
    )
  }
  const decoded = decodeFile(bytes)
  if (decoded.kind === 'text') return decoded
  throw new FileError(
    'invalid_input',
    `${relative} is not UTF-8 text: ${decoded.what}, ${countOf(size, 'byte')}.`,
    'Only text files can be edited.',
  )
}

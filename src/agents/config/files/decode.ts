export type Decoded =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly message: string; readonly remedy: string }

/** The text of a file: UTF-8, without a byte order mark, lines ended by `\n`. */
export function textOf(content: string | Uint8Array, maxLength: number): Decoded {
  if (content.length > maxLength)
    return { ok: false, message: `the file is larger than ${maxLength} bytes`, remedy: 'A configuration is a page or two.' }
  const text = decoded(content)
  if (text === undefined) return { ok: false, message: 'the file is not UTF-8', remedy: 'Save it as UTF-8.' }
  if (text.includes('\0')) return { ok: false, message: 'the file is binary', remedy: 'A configuration is text.' }
  return { ok: true, text: text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n') }
}

function decoded(content: string | Uint8Array): string | undefined {
  if (typeof content === 'string') return content
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content)
  } catch {
    return undefined
  }
}

export interface SearchPattern {
  readonly source: string
  readonly flags: string
}

export type CompiledPattern = { readonly ok: true; readonly pattern: SearchPattern } | { readonly ok: false; readonly message: string }

/** Accepts what models write: a leading `(?i)`, and escapes that Unicode mode rejects. */
export function compilePattern(text: string, ignoresCase: boolean): CompiledPattern {
  const source = text.replace(/^\(\?i\)/, '')
  const letters = ignoresCase || source !== text ? 'i' : ''
  try {
    new RegExp(source, `u${letters}`)
    return { ok: true, pattern: { source, flags: `u${letters}` } }
  } catch {
    // Without Unicode mode, unnecessary escapes are allowed.
  }
  try {
    new RegExp(source, letters)
    return { ok: true, pattern: { source, flags: letters } }
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message : String(error) }
  }
}

export const escapePattern = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')

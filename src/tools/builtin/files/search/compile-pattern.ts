export interface SearchPattern {
  readonly source: string
  readonly flags: string
}

export type CompiledPattern = { readonly ok: true; readonly pattern: SearchPattern } | { readonly ok: false; readonly message: string }

/** A regular expression as models write it: with `(?i)` before it, or escapes that the strict form does not know. */
export function compilePattern(text: string, ignoresCase: boolean): CompiledPattern {
  const source = text.replace(/^\(\?i\)/, '')
  const letters = ignoresCase || source !== text ? 'i' : ''
  try {
    new RegExp(source, `u${letters}`)
    return { ok: true, pattern: { source, flags: `u${letters}` } }
  } catch {
    // Without Unicode, needless escapes are taken for what they stand for.
  }
  try {
    new RegExp(source, letters)
    return { ok: true, pattern: { source, flags: letters } }
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message : String(error) }
  }
}

/** A pattern that finds just this text. */
export const escapePattern = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')

interface Part {
  readonly type: string
  readonly text?: string
}

/** The texts of a message or a result, without its other parts. */
export const textOfParts = (parts: readonly Part[], separator = '\n'): string =>
  parts.flatMap(({ type, text }) => (type === 'text' && text !== undefined ? [text] : [])).join(separator)

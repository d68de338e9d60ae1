import { type Document, isMap, visit, type YAMLError } from 'yaml'

export const neverClosed = (bracket = ''): string => `this \`${bracket}\` is never closed`

/** Where a bracket opens that an error reports as never closed: the parser notices it only where something else begins. */
export function unclosedBracket(
  document: Document,
  text: string,
  { message, pos }: Pick<YAMLError, 'message' | 'pos'>,
): number | undefined {
  if (!/^Flow (?:map|sequence) .*end with a [\]}]/.test(message)) return undefined
  let found: number | undefined
  visit(document, {
    Collection(_, node) {
      const [start, end] = node.range ?? [0, 0]
      const isOpen = node.flow === true && text[end - 1] !== (isMap(node) ? '}' : ']')
      if (isOpen && (found === undefined || start > found) && end <= pos[1]) found = start
    },
  })
  return found
}

/** The position and the message of an error in YAML. */
export function yamlProblem(
  document: Document,
  text: string,
  error: YAMLError,
): { readonly at: number; readonly message: string; readonly remedy?: string } {
  const at = unclosedBracket(document, text, error)
  if (at !== undefined)
    return { at, message: neverClosed(text[at]), remedy: 'Close the bracket on this line, or indent the lines that continue the list.' }
  const [first = error.message] = error.message.split('\n', 1)
  return { at: error.pos[0], message: first }
}

type Expected = 'value' | 'value or ]' | 'key' | 'key or }' | ':' | ', or end'

const space = /[ \t\n\r]*/y
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids exactly these
const string = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/y
const scalar = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.+-])/y

interface JsonError {
  readonly at: number
  readonly expected: string
  /** The position of a bracket that is never closed, if that is the error. */
  readonly unclosed?: number
}

/** Finds the first syntax error. `JSON.parse` does not always report its position. */
export function findJsonError(text: string): JsonError | undefined {
  const open: Bracket[] = []
  let expected: Expected = 'value'
  let at = end(space, text, 0) ?? 0
  while (at < text.length) {
    const next = nextToken(text, at, { expected, open })
    if (!next) return { at, expected: inWords({ expected, open }), ...unclosedAt(text[at], { expected, open }) }
    expected = next.expected
    at = end(space, text, next.at) ?? next.at
  }
  if (open.length === 0 && expected === ', or end') return undefined
  return { at, expected: inWords({ expected, open }), ...unclosedAt(undefined, { expected, open }) }
}

/** The innermost bracket is not closed if the text ends, or if a bracket closes an outer one. */
function unclosedAt(found: string | undefined, { expected, open }: Place): Pick<JsonError, 'unclosed'> {
  const inner = open.at(-1)
  const isOuterClosed = found !== undefined && expected === ', or end' && open.some(({ mark }) => closing[mark] === found)
  return inner && (found === undefined || isOuterClosed) ? { unclosed: inner.at } : {}
}

const closing = { '{': '}', '[': ']' } as const

function inWords({ expected, open }: Place): string {
  switch (expected) {
    case 'value':
      return 'a value'
    case 'value or ]':
      return 'a value or `]`'
    case 'key':
      return 'a key in double quotes'
    case 'key or }':
      return 'a key in double quotes or `}`'
    case ':':
      return '`:`'
    case ', or end':
      return open.length === 0 ? 'nothing more' : `\`,\` or \`${closing[open.at(-1)?.mark ?? '[']}\``
    default:
      return expected satisfies never
  }
}

interface Place {
  readonly expected: Expected
  /** Open brackets, outermost first. `nextToken` changes it. */
  readonly open: Bracket[]
}

interface Bracket {
  readonly mark: '{' | '['
  readonly at: number
}

function nextToken(text: string, at: number, { expected, open }: Place): { readonly at: number; readonly expected: Expected } | undefined {
  const mark = text[at]
  const opens = expected === 'value' || expected === 'value or ]'
  if (opens && (mark === '{' || mark === '[')) {
    open.push({ mark, at })
    return { at: at + 1, expected: mark === '{' ? 'key or }' : 'value or ]' }
  }
  if ((mark === '}' && closes('{', 'key or }')) || (mark === ']' && closes('[', 'value or ]'))) {
    open.pop()
    return { at: at + 1, expected: ', or end' }
  }
  if (expected === ':') return mark === ':' ? { at: at + 1, expected: 'value' } : undefined
  if (expected === ', or end')
    return mark === ',' && open.length > 0 ? { at: at + 1, expected: open.at(-1)?.mark === '{' ? 'key' : 'value' } : undefined
  const after = end(string, text, at) ?? (opens ? end(scalar, text, at) : undefined)
  return after === undefined ? undefined : { at: after, expected: opens ? ', or end' : ':' }

  function closes(bracket: '{' | '[', whereEmpty: Expected): boolean {
    return open.at(-1)?.mark === bracket && (expected === ', or end' || expected === whereEmpty)
  }
}

/** The end of a match at this position. */
function end(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : undefined
}

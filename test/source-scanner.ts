/** Source code in which everything that only looks like code is gone. */
export interface Skeleton {
  /** No comments, no regular expressions; the n-th string is `"n"`. */
  readonly code: string
  readonly strings: readonly string[]
}

const token =
  /\/\/[^\n]*|\/\*[\s\S]*?\*\/|'(?:\\[\s\S]|[^'\\\n])*'|"(?:\\[\s\S]|[^"\\\n])*"|[`{}]|\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*|[\s\S]/y
const templateChunk = /((?:\\[\s\S]|\$(?!\{)|[^`\\$])*)(`|\$\{)/y
/** What a value ends in: a slash after it divides. */
const valueBefore = /[\w$)\]}"]\s*$/
const keywordBefore = /\b(?:return|typeof|case|in|of|do|else|void|delete|await|yield|throw)\s*$/

export function skeleton(source: string): Skeleton {
  const strings: string[] = []
  /** Open braces in each `${…}` that we are in, innermost last. */
  const holes: number[] = []
  let code = ''
  let position = 0
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = position
    const found = pattern.exec(source)
    if (found) position = pattern.lastIndex
    return found
  }
  const string = (text: string) => {
    code += `"${strings.push(text) - 1}"`
  }
  const template = () => {
    const [, text = '', end] = take(templateChunk) ?? ['', '', '`']
    string(text)
    if (end === '${') {
      holes.push(0)
      code += '+('
    }
  }
  while (position < source.length) {
    const [text = ''] = take(token) ?? []
    const depth = holes.at(-1)
    if (text === '`') template()
    else if (text === '}' && depth === 0) {
      holes.pop()
      code += ')+'
      template()
    } else if (text === '{' || text === '}') {
      if (depth !== undefined) holes[holes.length - 1] = depth + (text === '{' ? 1 : -1)
      code += text
    } else if (text.startsWith('//') || text.startsWith('/*')) code += ' '
    else if (text[0] === "'" || text[0] === '"') string(text.slice(1, -1))
    else if (text.length > 1 && valueBefore.test(code) && !keywordBefore.test(code)) {
      position -= text.length - 1
      code += '/'
    } else code += text.length > 1 ? '0' : text
  }
  return { code, strings }
}

const specifier = /\b(?:import|export)\b[^"();=]*?\bfrom\s*"(\d+)"|\b(?:import|require)\s*\(?\s*"(\d+)"/g

/** What a file imports, in every form: `import`, `export … from`, `import()`, types included. */
export function importsOf({ code, strings }: Skeleton): string[] {
  return [...code.matchAll(specifier)].map(([, from, bare]) => strings[Number(from ?? bare)] ?? '')
}

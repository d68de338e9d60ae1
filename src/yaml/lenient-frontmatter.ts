import { parseDocument } from 'yaml'
import { type Frontmatter, type FrontmatterKind, readFrontmatter } from './frontmatter.ts'
import { SourceText } from './source-text.ts'

interface LenientOptions {
  readonly kind?: FrontmatterKind
  /** Whether the value of a key is text in any case, so that quotes do not change its meaning. */
  isProse(key: string): boolean
}

/** Quotes values that are not YAML, such as `Use when: asked`, and warns. If that does not help, `source` gets the problems. */
export function readLenientFrontmatter(source: SourceText, { kind, isProse }: LenientOptions): Frontmatter | undefined {
  const strict = readFrontmatter(source, kind)
  if (source.problems.length === 0) return strict
  const quoted = quoteValues(source.lines.join('\n'), isProse)
  if (!quoted) return undefined
  const second = new SourceText(quoted.text, source.place)
  const read = readFrontmatter(second, kind)
  if (!read || second.problems.length > 0) return undefined
  source.clearProblems()
  for (const { key, line } of quoted.at)
    source.warn({ line, column: 1 }, `\`${key}\` is not valid YAML and is read as quoted text`, 'Put the value in quotes.')
  return read
}

interface Quoted {
  readonly text: string
  /** Where values were quoted. */
  readonly at: readonly { readonly key: string; readonly line: number }[]
}

/** Quotes prose values that are not YAML. Every line stays where it is. `undefined` if there is no such value. */
function quoteValues(text: string, isProse: (key: string) => boolean): Quoted | undefined {
  const lines = text.split('\n')
  const open = lines.findIndex((line) => line.trimEnd() === '---')
  const close = lines.findIndex((line, index) => index > open && line.trimEnd() === '---')
  if (open === -1 || close === -1) return undefined
  const at: { key: string; line: number }[] = []
  for (let index = open + 1; index < close; index++) {
    const [, key, value] = /^([A-Za-z][\w-]*):[ \t]+(\S.*)$/.exec(lines[index] ?? '') ?? []
    if (key === undefined || value === undefined || !isProse(key)) continue
    const end = endOfValue(lines, index, close)
    if (isYaml(lines.slice(index, end).join('\n'))) continue
    const whole = [value, ...lines.slice(index + 1, end)].map((line) => line.trim()).join(' ')
    lines.fill('', index, end)
    lines[index] = `${key}: '${whole.replaceAll("'", "''")}'`
    at.push({ key, line: index + 1 })
    index = end - 1
  }
  return at.length === 0 ? undefined : { text: lines.join('\n'), at }
}

/** Indented lines belong to the value. */
function endOfValue(lines: readonly string[], start: number, close: number): number {
  let end = start + 1
  while (end < close && /^[ \t]+\S/.test(lines[end] ?? '')) end++
  return end
}

function isYaml(text: string): boolean {
  try {
    return parseDocument(text, { prettyErrors: false, logLevel: 'error' }).errors.length === 0
  } catch {
    return false
  }
}

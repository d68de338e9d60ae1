import { parseDocument } from 'yaml'

export interface Quoted {
  readonly text: string
  /** Where values were put in quotes. */
  readonly at: readonly { readonly key: string; readonly line: number }[]
}

/**
 * Many files in the wild have settings such as `description: Use when: asked`, which is not YAML. Puts such values in quotes,
 * line by line, and keeps every line where it is. `undefined` where there is no such value.
 * Only keys that are prose: a list of tools in quotes would be another list.
 */
export function quoteValues(text: string, isProse: (key: string) => boolean): Quoted | undefined {
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

/** Behind the lines that belong to the value because they are indented. */
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

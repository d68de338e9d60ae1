/** `a, b` or `[a, b]`; commas in brackets belong to the name: `Bash(git log, git diff)`. `undefined` where it is neither. */
export function writtenNames(value: unknown): readonly string[] | undefined {
  if (typeof value === 'string') return splitNames(value)
  if (!Array.isArray(value)) return undefined
  const names = value.map((each: unknown) => (typeof each === 'string' ? each.trim() : ''))
  return names.includes('') ? undefined : names
}

function splitNames(written: string): readonly string[] {
  const names: string[] = []
  let depth = 0
  let name = ''
  for (const letter of written) {
    if (letter === '(') depth++
    if (letter === ')') depth = Math.max(0, depth - 1)
    if (letter === ',' && depth === 0) {
      names.push(name)
      name = ''
    } else name += letter
  }
  return [...names, name].map((each) => each.trim()).filter((each) => each !== '')
}

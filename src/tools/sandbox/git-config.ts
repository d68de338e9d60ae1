// Reads Git configuration line by line.

export interface GitSetting {
  /** Section and key in lower case, without the subsection: `remote.url`. */
  readonly name: string
  readonly value: string
}

const section = /^\s*\[\s*([\w.-]+)(?:\s+"(?:[^"\\]|\\.)*")?\s*\](.*)$/
const setting = /^\s*([A-Za-z][\w-]*)\s*(?:=\s*(.*?)\s*)?$/
const nothing = /^\s*(?:[#;].*)?$/

/** Nothing where a line is not understood: it may be any setting. */
export function gitSettings(text: string): readonly GitSetting[] | undefined {
  const found = readLines(text)
  return found.includes(undefined) ? undefined : found.filter((each) => each !== undefined)
}

/** Settings that name paths, without comments and quotes. Lines that are not understood are left out. */
export function pathSettings(text: string): readonly GitSetting[] {
  return readLines(text.replace(/\\\r?\n/g, '')).flatMap((each) => (each ? [{ ...each, value: plainValue(each.value) }] : []))
}

const plainValue = (value: string): string =>
  (/^(?:"(?:[^"\\]|\\.)*"|\\.|[^"\\#;])*/.exec(value)?.[0] ?? '').trim().replace(/\\(.)|"/g, '$1')

function readLines(text: string): readonly (GitSetting | undefined)[] {
  const found: (GitSetting | undefined)[] = []
  let current = ''
  for (const line of text.split('\n')) {
    const [, name, rest = line] = section.exec(line) ?? []
    if (name !== undefined) current = name.toLowerCase()
    if (nothing.test(rest)) continue
    const [, key, value = ''] = setting.exec(rest) ?? []
    // Git itself writes no value that continues in the next line.
    const isUnderstood = key !== undefined && current !== '' && !value.endsWith('\\')
    found.push(isUnderstood ? { name: `${current}.${key.toLowerCase()}`, value } : undefined)
  }
  return found
}

// Reads Git configuration, strictly: a file with a line that is not understood has no settings.

export interface GitSetting {
  /** Section and key in lower case, without the subsection: `remote.url`. */
  readonly name: string
  readonly value: string
}

const section = /^\s*\[\s*([\w.-]+)(?:\s+"(?:[^"\\]|\\.)*")?\s*\](.*)$/
const setting = /^\s*([A-Za-z][\w-]*)\s*(?:=\s*(.*?)\s*)?$/
const nothing = /^\s*(?:[#;].*)?$/

/** Nothing where a line is not understood. */
export function gitSettings(text: string): readonly GitSetting[] | undefined {
  const found: GitSetting[] = []
  let current = ''
  for (const line of text.split('\n')) {
    const [, name, rest = line] = section.exec(line) ?? []
    if (name !== undefined) current = name.toLowerCase()
    if (nothing.test(rest)) continue
    const [, key, value = ''] = setting.exec(rest) ?? []
    // Git itself writes no value that continues in the next line.
    if (key === undefined || current === '' || value.endsWith('\\')) return undefined
    found.push({ name: `${current}.${key.toLowerCase()}`, value })
  }
  return found
}

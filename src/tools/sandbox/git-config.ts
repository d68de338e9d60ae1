// What settings of Git say. Read carefully: what is not understood for sure is not understood at all.

export interface GitSetting {
  /** Section and key in small letters, without what stands between them: `remote.url`. */
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
    // A value that goes on in the next line is nothing that Git writes by itself.
    if (key === undefined || current === '' || value.endsWith('\\')) return undefined
    found.push({ name: `${current}.${key.toLowerCase()}`, value })
  }
  return found
}

/** Settings that neither run a program nor lead to other settings. */
const plain = new Set(
  [
    ...words('repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks autocrlf eol', 'core'),
    ...words('safecrlf quotepath abbrev compression', 'core'),
    ...words('name email', 'user'),
    ...words('url pushurl fetch tagopt prune promisor partialclonefilter', 'remote'),
    ...words('remote merge rebase', 'branch'),
    ...words('url active', 'submodule'),
    ...words('objectformat partialclone', 'extensions'),
  ].concat('init.defaultbranch', 'pull.rebase', 'pull.ff', 'push.default', 'push.autosetupremote', 'index.version', 'gc.auto'),
)

function words(keys: string, from: string): readonly string[] {
  return keys.split(' ').map((key) => `${from}.${key}`)
}

/** Settings that may run something, addresses that name a program for the way (`ext::sh`) among them; nothing where a line is not understood. */
export const runningSettings = (text: string): readonly GitSetting[] | undefined =>
  gitSettings(text)?.filter(({ name, value }) => !plain.has(name) || value.includes('::') || /^"?-/.test(value))

/** Whether settings run nothing. */
export const isPlainConfig = (text: string): boolean => runningSettings(text)?.length === 0

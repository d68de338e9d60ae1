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

/*
 * Settings that neither run a program nor lead to other settings. What is not named here may do so: a newer Git may know it.
 * What stands between section and key is anything, so a key has to be harmless at every place of its section.
 */
const plain = new Set(
  [
    ...words('repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks autocrlf eol', 'core'),
    ...words('safecrlf quotepath abbrev compression loosecompression bigfilethreshold sharedrepository whitespace', 'core'),
    ...words('sparsecheckout sparsecheckoutcone splitindex untrackedcache preloadindex trustctime checkstat fscache', 'core'),
    ...words('longpaths hidedotfiles protecthfs protectntfs commitgraph multipackindex commentchar commentstring', 'core'),
    ...words('url pushurl fetch push pushdefault tagopt prune prunetags promisor partialclonefilter mirror', 'remote'),
    ...words('skipdefaultupdate skipfetchall followremotehead', 'remote'),
    ...words('remote pushremote merge rebase description sort autosetupmerge autosetuprebase', 'branch'),
    // Of editors and other programs.
    ...words('vscode-merge-base gh-merge-base github-pr-owner-number gk-merge-base gk-last-accessed', 'branch'),
    ...words('url active branch recurse ignore shallow fetchjobs fetchrecursesubmodules', 'submodule'),
    ...words('alternatelocation alternateerrorstrategy propagatebranches', 'submodule'),
    ...words('objectformat compatobjectformat partialclone worktreeconfig relativeworktrees refstorage', 'extensions'),
    ...words('noop preciousobjects', 'extensions'),
    ...words('denycurrentbranch denynonfastforwards denydeletes denydeletecurrent autogc fsckobjects unpacklimit', 'receive'),
    ...words('shallowupdate advertiseatomic advertisepushoptions updateserverinfo', 'receive'),
    ...words('prune prunetags parallel recursesubmodules writecommitgraph output fsckobjects unpacklimit all', 'fetch'),
    ...words('default autosetupremote followtags recursesubmodules useforceifincludes', 'push'),
    ...words('rebase ff', 'pull'),
    ...words('ff conflictstyle stat log renames renamelimit directoryrenames autostash', 'merge'),
    ...words('autosquash autostash stat updaterefs forkpoint rebasemerges missingcommitscheck', 'rebase'),
    ...words('renames renamelimit algorithm colormoved colormovedws mnemonicprefix noprefix context', 'diff'),
    ...words('submodule ignoresubmodules indentheuristic', 'diff'),
    ...words('auto autopacklimit autodetach pruneexpire reflogexpire reflogexpireunreachable worktreepruneexpire', 'gc'),
    ...words('window depth threads compression windowmemory packsizelimit writebitmaps usesparse', 'pack'),
    ...words('date decorate follow abbrevcommit', 'log'),
    ...words('guess defaultremote workers', 'checkout'),
    ...words('verbose status cleanup', 'commit'),
    ...words('postbuffer version extraheader', 'http'),
    ...words('repositoryformatversion locksverify access', 'lfs'),
    ...words('guessremote userelativepaths', 'worktree'),
    ...words('manyfiles experimental', 'feature'),
    ...words('commitencoding logoutputencoding', 'i18n'),
  ].concat('init.defaultbranch', 'clone.defaultremotename', 'protocol.version', 'transfer.fsckobjects', 'tag.sort', 'apply.whitespace'),
)

/** Nothing in these runs anything. */
const plainSections: readonly string[] = ['advice', 'color', 'column', 'index', 'maintenance', 'rerere', 'status', 'user']

/** Settings that run nothing where they say this. */
const plainValues: Readonly<Record<string, RegExp>> = {
  'commit.gpgsign': /^false$/,
  'tag.gpgsign': /^false$/,
  'core.fsmonitor': /^false$/,
  'submodule.update': /^(?:checkout|rebase|merge|none)$/,
}

function words(keys: string, from: string): readonly string[] {
  return keys.split(' ').map((key) => `${from}.${key}`)
}

function isPlain({ name, value }: GitSetting): boolean {
  // An address may name a program for the way (`ext::sh`), or be an option.
  if (value.includes('::') || /^"?-/.test(value)) return false
  const [from = '', ...keys] = name.split('.')
  return plain.has(name) || plainValues[name]?.test(value) === true || (keys.length === 1 && plainSections.includes(from))
}

/** Whether a repository may have its files at what `core.worktree` says. */
export type MayWorkAt = (value: string) => boolean

const nowhere: MayWorkAt = () => false

/** Settings that may run something; nothing where a line is not understood. */
export const runningSettings = (text: string, mayWorkAt = nowhere): readonly GitSetting[] | undefined =>
  gitSettings(text)?.filter((setting) => !isPlain(setting) && !(setting.name === 'core.worktree' && mayWorkAt(setting.value)))

/** Whether settings run nothing. */
export const isPlainConfig = (text: string, mayWorkAt = nowhere): boolean => runningSettings(text, mayWorkAt)?.length === 0

/** What of settings runs nothing, as they were written; nothing where there is none, or a line is not understood. */
export function plainPartOf(text: string): string | undefined {
  if (gitSettings(text) === undefined) return undefined
  let current = ''
  const lines = text.split('\n').map((line) => {
    const [, name, rest = line] = section.exec(line) ?? []
    if (name !== undefined) current = name
    const isKept = nothing.test(rest) || gitSettings(`[${current}]\n${rest}`)?.every(isPlain) === true
    return isKept ? line : line.slice(0, line.length - rest.length)
  })
  const kept = lines.join('\n')
  return gitSettings(kept)?.length ? kept : undefined
}

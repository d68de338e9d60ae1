import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { kindOf, textOf } from '../../sandbox/file-identity.ts'
import { type GitSetting, gitSettings } from '../../sandbox/git-config.ts'
import { WorkspaceScan } from '../../sandbox/workspace-scan.ts'

/**
 * Checks whether Git can show the state of a workspace without running programs that the repository names. Git also looks into
 * nested repositories, so there must be none.
 */
export function repositoryCheck(given: string): () => boolean {
  let scan: WorkspaceScan | undefined
  return () => {
    try {
      const root = realpathSync(given)
      const git = join(root, '.git')
      if (kindOf(git) !== 'folder' || !isPlainRepository(git)) return false
      scan ??= new WorkspaceScan(root)
      const { repositories, isComplete } = scan.scan()
      return isComplete && repositories.length === 1
    } catch {
      return false
    }
  }
}

function isPlainRepository(repository: string): boolean {
  const others = ['commondir', 'config.worktree', 'hooks/post-index-change'].map((name) => join(repository, name))
  return isPlainConfig(textOf(join(repository, 'config')) ?? '?') && others.every((path) => kindOf(path) === 'absent')
}

// Settings that neither run a program nor include other settings. A setting that is not named here may do so. The subsection
// can be anything, so a key has to be harmless in each of them.
const plain = new Set(
  [
    ...words('repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks autocrlf eol', 'core'),
    ...words('safecrlf quotepath abbrev compression loosecompression bigfilethreshold sharedrepository whitespace', 'core'),
    ...words('sparsecheckout sparsecheckoutcone splitindex untrackedcache preloadindex trustctime checkstat fscache', 'core'),
    ...words('longpaths hidedotfiles protecthfs protectntfs commitgraph multipackindex commentchar commentstring', 'core'),
    ...words('url pushurl fetch push pushdefault tagopt prune prunetags promisor partialclonefilter mirror', 'remote'),
    ...words('skipdefaultupdate skipfetchall followremotehead', 'remote'),
    ...words('remote pushremote merge rebase description sort autosetupmerge autosetuprebase', 'branch'),
    // Keys of editors and other programs.
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

/** No setting of these sections runs a program. */
const plainSections: readonly string[] = ['advice', 'color', 'column', 'index', 'maintenance', 'rerere', 'status', 'user']

/** Settings that run no program with these values. */
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
  // A URL may name a transport program (`ext::sh`), or be an option.
  if (value.includes('::') || /^"?-/.test(value)) return false
  const [from = '', ...keys] = name.split('.')
  return plain.has(name) || plainValues[name]?.test(value) === true || (keys.length === 1 && plainSections.includes(from))
}

/** Whether no setting runs a program. False where a line is not understood. */
export const isPlainConfig = (text: string): boolean => gitSettings(text)?.every(isPlain) ?? false

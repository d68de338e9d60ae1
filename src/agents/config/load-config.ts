import { type Problem, TroupeError } from '../../contracts/index.ts'
import { messageOf } from '../../util/message-of.ts'
import { shellWord } from '../../util/shell-word.ts'
import type { Config, ConfigDiagnostic, Layer, PendingFile, SettingsFile, VariableFile } from './config.ts'
import { type ConfigFile, type ConfigPlaces, configFiles, isOwnLayer } from './config-places.ts'
import type { ConfigFiles } from './files/config-file-system.ts'
import type { EnvVariable } from './files/env-file.ts'
import { variablesInAddresses } from './hide-secrets.ts'
import { modelProblems } from './model-problems.ts'
import { type FileContent, readConfigFile } from './read-config-file.ts'
import { layerNames, mergeAll, type Sourced, sourcedToJson } from './sourced.ts'
import { changedHookFiles } from './trust/hook-files.ts'
import { contentHash, type FileState, type TrustRecords, trustOf } from './trust/trust-records.ts'
import { withoutUntrusted } from './trust/untrusted-settings.ts'
import { firstNames, type Withheld, withheldVariables } from './trust/withheld.ts'

export interface LoadConfigOptions {
  readonly places: ConfigPlaces
  readonly files: ConfigFiles
  readonly trusted: TrustRecords
}

/**
 * Reads every layer of the configuration. What a project says and nobody has trusted stays out, and is named in
 * `pending` and in a diagnostic. Throws `config_invalid` with everything that is wrong in any file.
 */
export async function loadConfig(options: LoadConfigOptions): Promise<Config> {
  const { config, problems } = await readConfig(options)
  if (problems.length > 0) throw configError(problems)
  return config
}

/** The problems of a configuration as one error. */
export function configError(problems: readonly Problem[]): TroupeError {
  const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`
  return new TroupeError('config_invalid', `The configuration has ${count}.`, { problems })
}

export interface ReadConfig {
  /** Of the files that are right. */
  readonly config: Config
  readonly problems: readonly Problem[]
}

/** The same for those who go on with what is right. */
export async function readConfig({ places, files, trusted }: LoadConfigOptions): Promise<ReadConfig> {
  const looked = await Promise.all(configFiles(places).map((file) => look(file, files)))
  const config = admit(looked, trusted, places)
  const programs = await changedHookFiles(files, looked.flatMap(settingsIn), trusted)
  return {
    config: { ...config, pending: [...config.pending, ...programs], diagnostics: [...config.diagnostics, ...programs.map(notRun)] },
    problems: [...looked.flatMap((each) => (each.kind === 'wrong' ? each.problems : [])), ...mergedProblems(looked, config)],
  }
}

/** Of what counts, and of what will once it is trusted. */
function mergedProblems(looked: readonly FoundFiles[], { layers }: Config): readonly Problem[] {
  const counting = mergeAll(layers.flatMap(({ settings }) => settings ?? []))
  const written = mergeAll(looked.flatMap((each) => (each.kind === 'read' && each.content.kind === 'settings' ? [each.content.tree] : [])))
  const faults = [...modelProblems(counting), ...modelProblems(written)]
  return [...new Map(faults.map((fault) => [`${fault.place} ${fault.message}`, fault])).values()]
}

/** Of a project: a person's own programs need nobody's trust. */
const settingsIn = (each: FoundFiles): readonly FileState[] =>
  each.kind === 'read' && each.content.kind === 'settings' && !isOwnLayer(each.file.layer)
    ? [{ path: each.file.path, sha256: each.sha256 }]
    : []

/** A file as it was found. */
type FoundFiles =
  | { readonly kind: 'read'; readonly file: ConfigFile; readonly sha256: string; readonly content: FileContent }
  | { readonly kind: 'absent'; readonly file: ConfigFile }
  | { readonly kind: 'wrong'; readonly file: ConfigFile; readonly sha256?: string; readonly problems: readonly Problem[] }

async function look(file: ConfigFile, files: ConfigFiles): Promise<FoundFiles> {
  const wrong = (message: string, remedy?: string): FoundFiles => ({
    kind: 'wrong',
    file,
    problems: [{ place: file.path, message, ...(remedy !== undefined && { remedy }) }],
  })
  let content: string | Uint8Array | undefined
  try {
    content = await files.read(file.path)
  } catch (error) {
    return wrong(`the file cannot be read: ${messageOf(error)}`)
  }
  if (content === undefined)
    return file.isRequired ? wrong('there is no such file', 'Give the path of a configuration behind --config.') : { kind: 'absent', file }
  try {
    return { kind: 'read', file, sha256: contentHash(content), content: readConfigFile(content, file) }
  } catch (error) {
    if (error instanceof TroupeError) return { kind: 'wrong', file, sha256: contentHash(content), problems: error.problems }
    throw error
  }
}

/** What of the files counts, layer by layer. */
function admit(looked: readonly FoundFiles[], trusted: TrustRecords, places: ConfigPlaces): Config {
  const pending: PendingFile[] = []
  const files: SettingsFile[] = []
  const diagnostics: ConfigDiagnostic[] = []
  const settings = new Map<ConfigFile, Sourced>()
  const variables = new Map<ConfigFile, VariableFile>()
  const own = ownSettings(looked)
  const addressVariables = new Set(looked.flatMap((each) => (each.kind === 'read' ? variablesIn(each.content) : [])))
  for (const each of looked) {
    const { file } = each
    if (file.role === 'variables') variables.set(file, { file, state: 'absent', values: new Map() })
    if (each.kind === 'absent' || each.sha256 === undefined) continue
    const status = isOwnLayer(file.layer) ? 'trusted' : trustOf({ path: file.path, sha256: each.sha256 }, trusted)
    if (file.role === 'settings') files.push({ path: file.path, isTrusted: status === 'trusted' })
    // Whether it is trusted is known all the same.
    if (each.kind === 'wrong') continue
    const { withheld, counts } = counting(each.content, { isTrusted: status === 'trusted', own, addressVariables })
    if (counts.kind === 'settings') settings.set(file, counts.tree)
    else variables.set(file, { file, state: withheld.length > 0 ? 'untrusted' : 'read', values: counts.variables })
    diagnostics.push(...(counts.kind === 'settings' ? counts.diagnostics : ignoredOptions(counts.variables, file)))
    if (withheld.length > 0 && status !== 'trusted') {
      const waiting: PendingFile = {
        kind: file.role === 'variables' ? 'variables' : 'configuration',
        path: file.path,
        sha256: each.sha256,
        status,
        withheld: withheld.map(({ name }) => name),
        contents: withheld.map(({ contents }) => contents),
        ...(withheld.some(({ isPartial }) => isPartial) && { isPartial: true }),
      }
      pending.push(waiting)
      diagnostics.push(untrusted(waiting))
    }
  }
  const layers = layerNames.map((name): Layer => {
    const ofLayer = ({ layer }: ConfigFile): boolean => layer === name
    // Our own file comes first, so it goes before other programs'.
    const trees = [...settings].flatMap(([file, tree]) => (ofLayer(file) ? [tree] : []))
    return { name, settings: mergeAll(trees), variables: [...variables.values()].filter(({ file }) => ofLayer(file)) }
  })
  return { layers, files, ownFolders: [places.userFolder, places.systemFolder], pending, diagnostics }
}

/** What a person says in files of their own that are weaker than those of projects. */
function ownSettings(looked: readonly FoundFiles[]): Sourced | undefined {
  return mergeAll(
    looked.flatMap((each) => {
      const isWeaker = isOwnLayer(each.file.layer) && each.file.layer !== 'given'
      return each.kind === 'read' && isWeaker && each.content.kind === 'settings' ? [each.content.tree] : []
    }),
  )
}

interface TrustContext {
  readonly isTrusted: boolean
  readonly own: Sourced | undefined
  /** Variables that places in any of the files are made of, be it trusted or not. */
  readonly addressVariables: ReadonlySet<string>
}

const variablesIn = (content: FileContent): readonly string[] =>
  content.kind === 'settings' ? variablesInAddresses(sourcedToJson(content.tree)) : []

interface Counting {
  readonly withheld: readonly Withheld[]
  readonly counts: FileContent
}

function counting(content: FileContent, { isTrusted, own, addressVariables }: TrustContext): Counting {
  if (isTrusted) return { withheld: [], counts: content }
  if (content.kind === 'variables') {
    return { withheld: withheldVariables(content.variables, addressVariables), counts: { kind: 'variables', variables: new Map() } }
  }
  const { tree, withheld } = withoutUntrusted(content.tree, own)
  return { withheld, counts: { ...content, tree } }
}

/** Options are the business of the process: a file that comes along with a folder must not set them unseen. */
function ignoredOptions(variables: ReadonlyMap<string, EnvVariable>, file: ConfigFile): readonly ConfigDiagnostic[] {
  return [...variables].flatMap(([name, { line }]): readonly ConfigDiagnostic[] => {
    if (!name.startsWith('TROUPE_')) return []
    const remedy = 'Export it in the shell, or say it under `defaults` in `.ai-agent.json`.'
    return [
      { code: 'variable_unused', severity: 'warning', place: `${file.path}:${line}:1`, message: `\`${name}\` sets no option here`, remedy },
    ]
  })
}

const untrusted = (file: PendingFile): ConfigDiagnostic =>
  trustWarning(file, `a part of it does not count, since ${trustReason(file)}: ${firstNames(file.withheld, '; ').text}`)
const notRun = (file: PendingFile): ConfigDiagnostic => trustWarning(file, `it is not run as a hook, since ${trustReason(file)}`)

const trustReason = ({ status }: PendingFile): string =>
  status === 'changed' ? 'it has changed since it was trusted' : 'nobody has trusted it'

const trustWarning = ({ path }: PendingFile, message: string): ConfigDiagnostic => ({
  code: 'config_untrusted',
  severity: 'warning',
  place: path,
  message,
  remedy: `Look at it; if it is what you want: troupe trust ${shellWord(path)}`,
})

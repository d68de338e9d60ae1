// 1. Every value has an origin, and every part that does not take effect is reported.
// 2. Parts of a project's files that could run code, read a variable, send data to another place or loosen a rule take
//    effect only after a person trusts that content at that path.
// 3. Placeholders are resolved once, only in requested parts; nothing here reads the environment of the process.
// 4. Files are read and written through `ConfigFileSystem`; everything else is pure.
import { type Problem, TroupeError } from '../../contracts/index.ts'
import { messageOf } from '../../util/message-of.ts'
import { plural } from '../../util/plural.ts'
import { shellWord } from '../../util/shell-word.ts'
import type { Config, ConfigDiagnostic, Layer, PendingFile, SettingsFile, VariableFile } from './config.ts'
import { type ConfigFile, type ConfigPlaces, configFiles, isOwnLayer } from './config-places.ts'
import { hiddenServers } from './configured-servers.ts'
import type { ConfigFileSystem } from './files/config-file-system.ts'
import type { EnvVariable } from './files/env-file.ts'
import { variablesInAddresses } from './hide-secrets.ts'
import { modelProblems } from './model-problems.ts'
import { type FileContent, readConfigFile } from './read-config-file.ts'
import { layerNames, mergeAll, placeOf, type Sourced, sourcedAt, sourcedToJson } from './sourced.ts'
import { changedHookFiles } from './trust/hook-files.ts'
import { contentHash, type FileState, type TrustRecords, trustOf } from './trust/trust-records.ts'
import { withoutUntrusted } from './trust/untrusted-settings.ts'
import { firstNames, type Withheld, withheldVariables } from './trust/withheld.ts'

interface LoadConfigOptions {
  readonly places: ConfigPlaces
  readonly files: ConfigFileSystem
  readonly trusted: TrustRecords
}

/** Reads all layers. `pending` and the diagnostics list untrusted parts. Throws `config_invalid` with all problems of all files. */
export async function loadConfig(options: LoadConfigOptions): Promise<Config> {
  const { config, problems } = await readConfig(options)
  if (problems.length > 0) throw configError(problems)
  return config
}

export function configError(problems: readonly Problem[]): TroupeError {
  return new TroupeError('config_invalid', `${plural(problems.length, 'problem')} in the configuration.`, { problems })
}

interface ReadConfig {
  /** From the valid files. */
  readonly config: Config
  readonly problems: readonly Problem[]
}

/** Like `loadConfig`, but returns problems, for commands that go on with the valid files. */
export async function readConfig({ places, files, trusted }: LoadConfigOptions): Promise<ReadConfig> {
  const read = await Promise.all(configFiles(places).map((file) => readOne(file, files)))
  const config = applyTrust(read, trusted, places)
  const programs = await changedHookFiles(files, read.flatMap(projectSettings), trusted)
  return {
    config: {
      ...config,
      pending: [...config.pending, ...programs],
      diagnostics: [...config.diagnostics, ...hiddenServers(config), ...programs.map(notRun)],
    },
    problems: [...read.flatMap((each) => (each.kind === 'invalid' ? each.problems : [])), ...mergedProblems(read, config)],
  }
}

/** Problems of the layers together, both as they take effect now and as they would with trust. */
function mergedProblems(read: readonly ReadFile[], { layers }: Config): readonly Problem[] {
  const effective = mergeAll(layers.flatMap(({ settings }) => settings ?? []))
  const written = mergeAll(read.flatMap((each) => (each.kind === 'read' && each.content.kind === 'settings' ? [each.content.tree] : [])))
  const problems = [...modelProblems(effective), ...modelProblems(written)]
  return [...new Map(problems.map((problem) => [`${problem.place} ${problem.message}`, problem])).values()]
}

/** Programs of the user's own hooks need no trust. */
const projectSettings = (each: ReadFile): readonly FileState[] =>
  each.kind === 'read' && each.content.kind === 'settings' && !isOwnLayer(each.file.layer)
    ? [{ path: each.file.path, sha256: each.sha256 }]
    : []

type ReadFile =
  | { readonly kind: 'read'; readonly file: ConfigFile; readonly sha256: string; readonly content: FileContent }
  | { readonly kind: 'absent'; readonly file: ConfigFile }
  | { readonly kind: 'invalid'; readonly file: ConfigFile; readonly sha256?: string; readonly problems: readonly Problem[] }

async function readOne(file: ConfigFile, files: ConfigFileSystem): Promise<ReadFile> {
  const place = file.path
  let content: string | Uint8Array | undefined
  try {
    content = await files.read(place)
  } catch (error) {
    return { kind: 'invalid', file, problems: [{ place, message: `the file cannot be read: ${messageOf(error)}` }] }
  }
  if (content === undefined) {
    const missing = { place, message: 'the file does not exist', remedy: 'Give the path of a configuration after --config.' }
    return file.isRequired ? { kind: 'invalid', file, problems: [missing] } : { kind: 'absent', file }
  }
  try {
    return { kind: 'read', file, sha256: contentHash(content), content: readConfigFile(content, file) }
  } catch (error) {
    if (error instanceof TroupeError) return { kind: 'invalid', file, sha256: contentHash(content), problems: error.problems }
    throw error
  }
}

/** Makes the layers from the parts that take effect. */
function applyTrust(read: readonly ReadFile[], trusted: TrustRecords, places: ConfigPlaces): Config {
  const pending: PendingFile[] = []
  const files: SettingsFile[] = []
  const diagnostics: ConfigDiagnostic[] = []
  const withheldServers: Sourced[] = []
  const settings = new Map<ConfigFile, Sourced>()
  const variables = new Map<ConfigFile, VariableFile>()
  const own = ownSettings(read)
  const addressVariables = new Set(read.flatMap((each) => (each.kind === 'read' ? addressVariablesIn(each.content) : [])))
  for (const each of read) {
    const { file } = each
    if (file.role === 'variables') variables.set(file, { file, state: 'absent', values: new Map() })
    if (each.kind === 'absent' || each.sha256 === undefined) continue
    const status = isOwnLayer(file.layer) ? 'trusted' : trustOf({ path: file.path, sha256: each.sha256 }, trusted)
    if (file.role === 'settings') files.push({ path: file.path, isTrusted: status === 'trusted' })
    if (each.kind === 'invalid') continue
    const { withheld, effective } = splitByTrust(each.content, { isTrusted: status === 'trusted', own, addressVariables })
    if (effective.kind === 'settings') settings.set(file, effective.tree)
    else variables.set(file, { file, state: withheld.length > 0 ? 'untrusted' : 'read', values: effective.variables })
    diagnostics.push(...(effective.kind === 'settings' ? effective.diagnostics : unusedVariables(effective.variables, file)))
    if (withheld.length > 0 && status !== 'trusted') {
      const servers = each.content.kind === 'settings' ? sourcedAt(each.content.tree, ['mcpServers']) : undefined
      if (servers) withheldServers.push(servers)
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
    // `.ai-agent.json` comes before files of other programs.
    const trees = [...settings].flatMap(([file, tree]) => (ofLayer(file) ? [tree] : []))
    return { name, settings: mergeAll(trees), variables: [...variables.values()].filter(({ file }) => ofLayer(file)) }
  })
  return { layers, files, ownFolders: [places.userFolder, places.systemFolder], pending, withheldServers, diagnostics }
}

/** The settings of the user and the machine, which are weaker than those of projects. */
function ownSettings(read: readonly ReadFile[]): Sourced | undefined {
  return mergeAll(
    read.flatMap((each) => {
      const isWeaker = isOwnLayer(each.file.layer) && each.file.layer !== 'given'
      return each.kind === 'read' && isWeaker && each.content.kind === 'settings' ? [each.content.tree] : []
    }),
  )
}

interface TrustContext {
  readonly isTrusted: boolean
  readonly own: Sourced | undefined
  /** Variables in addresses and paths of any file, trusted or not. */
  readonly addressVariables: ReadonlySet<string>
}

const addressVariablesIn = (content: FileContent): readonly string[] =>
  content.kind === 'settings' ? variablesInAddresses(sourcedToJson(content.tree)) : []

function splitByTrust(
  content: FileContent,
  { isTrusted, own, addressVariables }: TrustContext,
): { readonly withheld: readonly Withheld[]; readonly effective: FileContent } {
  if (isTrusted) return { withheld: [], effective: content }
  if (content.kind === 'variables')
    return { withheld: withheldVariables(content.variables, addressVariables), effective: { kind: 'variables', variables: new Map() } }
  const { tree, withheld } = withoutUntrusted(content.tree, own)
  return { withheld, effective: { ...content, tree } }
}

/** A `.env` file sets no options: a file that comes with a folder must not change them unnoticed. */
function unusedVariables(variables: ReadonlyMap<string, EnvVariable>, file: ConfigFile): readonly ConfigDiagnostic[] {
  return [...variables].flatMap(([name, { line }]): readonly ConfigDiagnostic[] => {
    if (!name.startsWith('TROUPE_')) return []
    const message = `\`${name}\` has no effect in this file`
    const remedy = 'Export it in the shell, or set the option under `defaults` in `.ai-agent.json`.'
    return [{ code: 'variable_unused', severity: 'warning', place: placeOf({ file: file.path, line, column: 1 }), message, remedy }]
  })
}

const untrusted = (file: PendingFile): ConfigDiagnostic =>
  trustWarning(file, `These settings are ignored ${untilTrusted(file)}: ${firstNames(file.withheld, '; ').text}.`)
const notRun = (file: PendingFile): ConfigDiagnostic =>
  trustWarning(
    file,
    `${file.kind === 'OpenAPI document' ? 'The tools of this document are not available' : 'This hook does not run'} ${untilTrusted(file)}.`,
  )

const untilTrusted = ({ status }: PendingFile): string =>
  status === 'changed' ? 'because the file has changed since it was trusted' : 'until you trust the file'

const trustWarning = ({ path }: PendingFile, message: string): ConfigDiagnostic => ({
  code: 'config_untrusted',
  severity: 'warning',
  place: path,
  message,
  remedy: `Review the file, then: troupe trust ${shellWord(path)}`,
})

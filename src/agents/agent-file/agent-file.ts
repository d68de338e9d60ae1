import type {
  AgentLimits,
  ApprovalRule,
  InputContract,
  JsonObject,
  ModelParameters,
  OutputContract,
  Problem,
  SandboxPolicy,
} from '../../contracts/index.ts'
import { decodeText } from '../values/decode-text.ts'
import { maxReported, SourceText } from '../values/source-text.ts'
import { type AgentOptionKey, agentOptions, keysInGroup } from './agent-options.ts'
import { readFileSettings } from './file-settings.ts'
import { type Frontmatter, readFrontmatter } from './frontmatter.ts'
import { type ExternalValues, locationOf, mergeLayers, type OptionValue, type OptionValues, type SourceLocation } from './option-values.ts'
import { fileStem, safeName } from './safe-name.ts'
import { type ReadSchemaFile, withSchemaFiles } from './schema-files.ts'

/** An agent as a file says it. Fits wherever the runtime takes a definition; its children are resolved by the registry. */
export interface AgentFile extends AgentSettings {
  /** The file's stem, made safe for use as a name. */
  readonly name: string
  readonly toolName: string
  /** As written; a template is filled in by the registry. */
  readonly prompt: string
}

/** An agent file with all that it says, and where. */
export interface ReadAgent {
  readonly agent: AgentFile
  /** Files or names of its children, as written. */
  readonly children: readonly (SourceLocation & { readonly written: string })[]
  /** Names and patterns of skills that it does not have, whatever it wants. */
  readonly disabledSkills: readonly string[]
  readonly enabled: boolean
  readonly metadata: JsonObject
  /** Everything that holds for it, defaults of the program aside. */
  readonly values: OptionValues
  /** Where its settings open. */
  readonly at: SourceLocation
  /** The line of the file that its prompt begins on. */
  readonly promptLine: number
}

export interface AgentFileOptions {
  /** What goes before the file. */
  readonly overrides?: ExternalValues
  /** What holds where the file says nothing. */
  readonly defaults?: ExternalValues
  readonly readFile?: ReadSchemaFile
}

/**
 * Reads a `.ai` file: an optional `#!` line, settings in YAML between two lines of `---`, and the prompt.
 * `place` is the path that names it, in problems too. Throws `agent_file_invalid` with everything that is wrong.
 */
export function parseAgentFile(content: string | Uint8Array, place: string, options: AgentFileOptions = {}): AgentFile {
  return readAgentText(content, place, options).agent
}

/** The same with everything that the registry has to know of it. */
export function readAgentText(content: string | Uint8Array, place: string, options: AgentFileOptions = {}): ReadAgent {
  const source = new SourceText(decodeText(content, place), place)
  const read = readSource(source, place, options)
  source.done('agent_file_invalid', 'the agent file')
  return read
}

/** What can be made of a file that has problems: it may name others, with problems of their own. Throws where it is no text. */
export function readAgentWithProblems(
  content: string | Uint8Array,
  place: string,
  options: AgentFileOptions = {},
): { readonly read: ReadAgent; readonly problems: readonly Problem[] } {
  const source = new SourceText(decodeText(content, place), place)
  const read = readSource(source, place, options)
  return { read, problems: source.problems.slice(0, maxReported) }
}

function readSource(source: SourceText, place: string, options: AgentFileOptions): ReadAgent {
  const name = safeName(fileStem(place))
  if (name === '')
    source.problem({ line: 1, column: 1 }, `no name can be made of \`${place}\``, 'Rename the file: letters, digits, `-` and `_` are safe.')
  const read = readFrontmatter(source)
  const values = read ? valuesOf(source, read, options) : new Map()
  const children = values.get('agents')
  return {
    agent: { name, toolName: name, prompt: read?.prompt.text ?? '', ...toAgentSettings(values) },
    children: children ? entriesOf(children) : [],
    disabledSkills: (values.get('disabledSkills')?.value as readonly string[] | undefined) ?? [],
    enabled: values.get('enabled')?.value !== false,
    metadata: (values.get('metadata')?.value as JsonObject | undefined) ?? {},
    values,
    at: source.spot(read?.at ?? { line: 1, column: 1 }),
    promptLine: read?.prompt.line ?? 1,
  }
}

function entriesOf(list: OptionValue): ReadAgent['children'] {
  return (list.value as readonly string[]).map((written, index) => ({ written, ...locationOf(list, index) }))
}

function valuesOf(source: SourceText, read: Frontmatter, { overrides, defaults, readFile }: AgentFileOptions): OptionValues {
  const { prompt, at, whole } = read
  if (prompt.text === '') source.problem(prompt.at, 'the prompt is empty', 'Below the closing `---`, write what the agent is to do.')
  const isDescribed = read.settings.some(({ key }) => key === 'description') || overrides?.has('description')
  if (!isDescribed && whole)
    source.problem(
      at,
      '`description` is missing',
      `Say in a line what the agent does: \`description: ${agentOptions.description.example}\`.`,
    )
  const own = readFileSettings(source, read)
  const stated = mergeLayers({ over: overrides, own, defaults })
  const { values, problems } = withSchemaFiles(stated, readFile)
  for (const problem of problems) source.elsewhere(problem)
  return values
}

/** What the settings of an agent say of it, whoever wrote its file. */
export interface AgentSettings {
  readonly description: string
  /** One example of its input, for whoever calls it. */
  readonly usage?: string
  /** The name that parents know it by. */
  readonly toolName?: string
  readonly models: readonly string[]
  /** A file that names no tools has none. */
  readonly tools: readonly string[]
  /** Names and patterns, as written; `agentSkills` tells which skills these are. A file that names none has none. */
  readonly skills: readonly string[]
  /** Its own rules. Absent where it has none. */
  readonly approvals?: readonly ApprovalRule[]
  /** What its commands may do less than those of the session; only what is stated. */
  readonly sandbox?: Partial<SandboxPolicy>
  /** Only what is stated; so too the limits. */
  readonly parameters: ModelParameters
  readonly limits: Partial<AgentLimits>
  readonly input: InputContract
  readonly output: OutputContract
}

/** Values that were found to be right, in the shape that the runtime takes. */
export function toAgentSettings(values: ReadonlyMap<AgentOptionKey, { readonly value: unknown }>): AgentSettings {
  const said = <T>(key: AgentOptionKey): T | undefined => values.get(key)?.value as T | undefined
  const group = (name: string): object =>
    Object.fromEntries(
      keysInGroup(name).flatMap((key) => {
        const value = said(`${name}.${key}` as AgentOptionKey)
        return value === undefined ? [] : [[key, value]]
      }),
    )
  const usage = said<string>('usage')
  const toolName = said<string>('toolName')
  const rules = said<readonly ApprovalRule[]>('approvals.rules') ?? []
  const sandbox = group('sandbox') as Partial<SandboxPolicy>
  return {
    description: said<string>('description') ?? '',
    ...(usage !== undefined && { usage }),
    ...(toolName !== undefined && { toolName }),
    models: said<readonly string[]>('models') ?? [agentOptions.models.default],
    tools: said<readonly string[]>('tools') ?? [],
    skills: said<readonly string[]>('skills') ?? [],
    ...(rules.length > 0 && { approvals: rules }),
    ...(Object.keys(sandbox).length > 0 && { sandbox }),
    parameters: group('parameters') as ModelParameters,
    limits: group('limits') as Partial<AgentLimits>,
    input: inputOf(said('input.format'), said<JsonObject>('input.schema')),
    output: outputOf(said('output.format'), said<JsonObject>('output.schema')),
  }
}

/** JSON without a schema is any object: what is given by a call is one. */
function inputOf(format: unknown, schema: JsonObject | undefined): InputContract {
  if (schema) return { format: 'json', schema }
  return format === 'json' ? { format, schema: { type: 'object' } } : { format: 'text' }
}

function outputOf(format: unknown, schema: JsonObject | undefined): OutputContract {
  if (schema) return { format: 'json', schema }
  return { format: (format as OutputContract['format'] | undefined) ?? 'markdown' }
}

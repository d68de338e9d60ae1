import type {
  AgentLimits,
  ApprovalRule,
  ClientToolRule,
  InputContract,
  JsonObject,
  ModelParameters,
  OutputContract,
  OverridableParameter,
  Problem,
  SandboxPolicy,
} from '../../contracts/index.ts'
import { type Frontmatter, readFrontmatter } from '../../yaml/frontmatter.ts'
import { maxReported, type SourceLocation, SourceText, startOfText } from '../../yaml/source-text.ts'
import { type AgentOptionKey, agentOptions, keysInGroup } from '../options/agent-options.ts'
import { type ExternalValues, locationOf, mergeLayers, type OptionValues } from '../options/option-values.ts'
import { decodeAgentText } from '../values/decode-text.ts'
import { readFileSettings } from './file-settings.ts'
import { fileStem, safeName } from './safe-name.ts'
import { type ReadSchemaFile, withSchemaFiles } from './schema-files.ts'
import { toolOfEntry } from './tool-entries.ts'

/** The settings of an agent in the form that the runtime takes. */
interface AgentSettings {
  readonly description: string
  /** An example of its input, for agents that call it. */
  readonly usage?: string
  /** Example prompts for people. */
  readonly examples?: readonly string[]
  readonly toolName?: string
  readonly models: readonly string[]
  readonly tools: readonly string[]
  /** Names and patterns as written; `agentSkills` resolves them. */
  readonly skills: readonly string[]
  readonly childControl?: true
  readonly clientTools?: ClientToolRule
  readonly keepSessions?: true
  readonly approvals?: readonly ApprovalRule[]
  /** Only what is set, as in `parameters` and `limits`. */
  readonly sandbox?: Partial<SandboxPolicy>
  readonly parameters: ModelParameters
  /** Parameters that callers of a server can set. */
  readonly overrides?: readonly OverridableParameter[]
  readonly limits: Partial<AgentLimits>
  readonly input: InputContract
  readonly output: OutputContract
}

/** An agent file as a definition for the runtime. The registry resolves its children. */
export interface AgentFile extends AgentSettings {
  /** The name of the file, made safe. */
  readonly name: string
  readonly toolName: string
  /** As written; the registry renders a template. */
  readonly prompt: string
}

/** An agent file with everything that the registry needs. */
export interface ReadAgent {
  readonly agent: AgentFile
  /** Files or names of its children, as written. */
  readonly children: readonly (SourceLocation & { readonly written: string })[]
  /** Names and patterns of skills that it never has. */
  readonly disabledSkills: readonly string[]
  readonly enabled: boolean
  readonly metadata: JsonObject
  /** All values that are set, without built-in defaults. */
  readonly values: OptionValues
  /** Where its settings begin. */
  readonly at: SourceLocation
  /** The line on which its prompt begins. */
  readonly promptLine: number
}

export interface AgentFileOptions {
  /** Values that override the file. */
  readonly overrides?: ExternalValues
  /** Values for what the file does not set. */
  readonly defaults?: ExternalValues
  readonly readFile?: ReadSchemaFile
}

/**
 * Reads a `.ai` file: an optional `#!` line, settings in YAML between two lines of `---`, and the prompt.
 * `place` is its path, also in problems. Throws `agent_file_invalid` with all problems.
 */
export function parseAgentFile(content: string | Uint8Array, place: string, options: AgentFileOptions = {}): AgentFile {
  return readAgentText(content, place, options).agent
}

/** Like `parseAgentFile`, with everything that the registry needs. */
export function readAgentText(content: string | Uint8Array, place: string, options: AgentFileOptions = {}): ReadAgent {
  const source = new SourceText(decodeAgentText(content, place), place)
  const read = readSource(source, options)
  source.throwIfProblems('agent_file_invalid', 'the agent file')
  return read
}

/** Reads as much as possible of a file with problems: it may name children that have problems too. Throws if it is not text. */
export function readAgentWithProblems(
  content: string | Uint8Array,
  place: string,
  options: AgentFileOptions = {},
): { readonly read: ReadAgent; readonly problems: readonly Problem[] } {
  const source = new SourceText(decodeAgentText(content, place), place)
  const read = readSource(source, options)
  return { read, problems: source.problems.slice(0, maxReported) }
}

function readSource(source: SourceText, options: AgentFileOptions): ReadAgent {
  const name = safeName(fileStem(source.place))
  if (name === '')
    source.problem(
      startOfText,
      `the file name \`${source.place}\` cannot be used as a name`,
      'Rename the file: use letters, digits, `-` and `_`.',
    )
  const read = readFrontmatter(source)
  const values: OptionValues = read ? readValues(source, read, options) : new Map()
  const children = values.get('agents')
  return {
    agent: { name, toolName: name, prompt: read?.prompt.text ?? '', ...toAgentSettings(values) },
    children: ((children?.value ?? []) as readonly string[]).map((written, index) => ({
      written,
      ...locationOf(children ?? { place: source.place }, index),
    })),
    disabledSkills: (values.get('disabledSkills')?.value as readonly string[] | undefined) ?? [],
    enabled: values.get('enabled')?.value !== false,
    metadata: (values.get('metadata')?.value as JsonObject | undefined) ?? {},
    values,
    at: source.locate(read?.at ?? startOfText),
    promptLine: read?.prompt.line ?? 1,
  }
}

function readValues(source: SourceText, read: Frontmatter, { overrides, defaults, readFile }: AgentFileOptions): OptionValues {
  const { prompt, at, isComplete, settings } = read
  if (prompt.text === '') source.problem(prompt.at, 'the prompt is empty', 'Write the instructions for the agent below the closing `---`.')
  const isDescribed = settings.some(({ key }) => key === 'description') || overrides?.has('description')
  if (!isDescribed && isComplete)
    source.problem(at, '`description` is missing', `Add one line, such as \`description: ${agentOptions.description.example}\`.`)
  const merged = mergeLayers({ overrides, file: readFileSettings(source, read), defaults })
  const { values, problems } = withSchemaFiles(merged, readFile)
  for (const problem of problems) source.addProblem(problem)
  return values
}

export function toAgentSettings(values: ReadonlyMap<AgentOptionKey, { readonly value: unknown }>): AgentSettings {
  const get = <T>(key: AgentOptionKey): T | undefined => values.get(key)?.value as T | undefined
  const group = (name: string): object =>
    Object.fromEntries(
      keysInGroup(name).flatMap((key) => {
        const value = get(`${name}.${key}` as AgentOptionKey)
        return value === undefined ? [] : [[key, value]]
      }),
    )
  const usage = get<string>('usage')
  const examples = get<readonly string[]>('examples')
  const toolName = get<string>('toolName')
  const rules = get<readonly ApprovalRule[]>('approvals.rules') ?? []
  const overrides = get<readonly OverridableParameter[]>('overrides') ?? []
  const brought = get<readonly string[]>('clientTools')
  const sandbox = group('sandbox') as Partial<SandboxPolicy>
  return {
    description: get<string>('description') ?? '',
    ...(usage !== undefined && { usage }),
    ...(examples && { examples }),
    ...(toolName !== undefined && { toolName }),
    models: get<readonly string[]>('models') ?? [agentOptions.models.default],
    tools: (get<readonly string[]>('tools') ?? []).map(toolOfEntry),
    skills: get<readonly string[]>('skills') ?? [],
    ...(get<boolean>('childControl') === true && { childControl: true }),
    ...(brought && { clientTools: clientToolRule(brought) }),
    ...(get<boolean>('keepSessions') === true && { keepSessions: true }),
    ...(rules.length > 0 && { approvals: rules }),
    ...(Object.keys(sandbox).length > 0 && { sandbox }),
    parameters: group('parameters') as ModelParameters,
    ...(overrides.length > 0 && { overrides }),
    limits: group('limits') as Partial<AgentLimits>,
    input: inputOf(get('input.format'), get<JsonObject>('input.schema')),
    output: outputOf(get('output.format'), get<JsonObject>('output.schema')),
  }
}

/** `allow` and `deny` are alone. */
function clientToolRule(written: readonly string[]): ClientToolRule {
  const [word] = written
  return written.length === 1 && (word === 'allow' || word === 'deny') ? word : written
}

/** The input of a call is an object, so JSON without a schema is any object. */
function inputOf(format: unknown, schema: JsonObject | undefined): InputContract {
  if (schema) return { format: 'json', schema }
  return format === 'json' ? { format, schema: { type: 'object' } } : { format: 'text' }
}

function outputOf(format: unknown, schema: JsonObject | undefined): OutputContract {
  if (schema) return { format: 'json', schema }
  return { format: (format as OutputContract['format'] | undefined) ?? 'markdown' }
}

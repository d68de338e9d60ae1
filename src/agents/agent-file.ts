import { isMap, isScalar, type Node } from 'yaml'
import { type AgentLimits, type ModelParameters, type OutputContract, TroupeError } from '../contracts/index.ts'
import { messageOf } from '../util/message-of.ts'
import { type AgentOptionKey, agentOption, agentOptions, keysBelow, topLevelKeys } from './agent-options.ts'
import { agentParts } from './agent-parts.ts'
import { decodeText } from './decode-text.ts'
import { type Frontmatter, readFrontmatter, type Setting } from './frontmatter.ts'
import { outputFaults } from './output-faults.ts'
import type { AgentOverrides } from './overrides.ts'
import { parseSchemaFile, readSchema } from './read-schema.ts'
import { found, listed, nearby, readValue } from './read-value.ts'
import { SourceText } from './source-text.ts'

/** An agent as a file says it. Fits wherever the runtime takes a definition. */
export interface AgentFile {
  /** The file's stem, made safe for use as a name. */
  readonly name: string
  readonly description: string
  readonly models: readonly string[]
  /** A file that names no tools has none. */
  readonly tools: readonly string[]
  readonly prompt: string
  /** Only what is stated; so too the limits. */
  readonly parameters: ModelParameters
  readonly limits: Partial<AgentLimits>
  readonly output: OutputContract
}

/** A value that was found to be right, and a way to say at its place that it does not go with others. */
interface Value {
  readonly value: unknown
  tell(message: string, remedy: string): void
}
type Values = ReadonlyMap<AgentOptionKey, Value>

export interface AgentFileOptions {
  /** What goes before the file. */
  readonly overrides?: AgentOverrides
  /** Reads the file of a `schemaRef`, whose path is relative to the agent file. Throws where it cannot. */
  readFile?(path: string): string
}

/**
 * Reads a `.ai` file: an optional `#!` line, settings in YAML between two lines of `---`, and the prompt.
 * `place` is the path that names it, in problems too. Throws `agent_file_invalid` with everything that is wrong.
 */
export function parseAgentFile(content: string | Uint8Array, place: string, options: AgentFileOptions = {}): AgentFile {
  const source = new SourceText(decodeText(content, place), place)
  const name = nameOf(place)
  if (name === '')
    source.problem({ line: 1, column: 1 }, `no name can be made of \`${place}\``, 'Rename the file: letters, digits, `-` and `_` are safe.')
  const read = readFrontmatter(source)
  const values = read ? valuesOf(source, read, options) : new Map()
  source.done('agent_file_invalid', 'the agent file')
  return { name, tools: [], prompt: read?.prompt.text ?? '', ...agentParts(values) }
}

function valuesOf(source: SourceText, read: Frontmatter, { overrides, readFile }: AgentFileOptions): Values {
  const { prompt, at, whole } = read
  if (prompt.text === '') source.problem(prompt.at, 'the prompt is empty', 'Below the closing `---`, write what the agent is to do.')
  const settings = knownSettings(source, read)
  const isDescribed = settings.has('description') || overrides?.has('description')
  if (!isDescribed && whole)
    source.problem(
      at,
      '`description` is missing',
      `Say in a line what the agent does: \`description: ${agentOptions.description.example}\`.`,
    )
  const own = new Map<AgentOptionKey, Value>()
  for (const [key, setting] of settings) {
    const value = readSetting(source, key, { setting, positionOf: read.positionOf })
    if (value) own.set(key, value)
  }
  for (const { key, message, remedy } of outputFaults(own)) own.get(key)?.tell(message, remedy)
  return withSchemaFile(source, withOverrides(source, own, overrides), readFile)
}

/** `output` is one contract, so it is overridden as a whole. */
function withOverrides(source: SourceText, own: Values, overrides: AgentOverrides = new Map()): Values {
  const isOutput = (key: string): boolean => key.startsWith('output.')
  const replacesOutput = [...overrides.keys()].some(isOutput)
  const kept = [...own].filter(([key]) => !(replacesOutput && isOutput(key)))
  const placed = [...overrides].map(([key, { value, place }]): [AgentOptionKey, Value] => [
    key,
    { value, tell: (message, remedy) => source.elsewhere({ place, message, remedy }) },
  ])
  return new Map([...kept, ...placed])
}

/** The settings by dotted key. What there is no option for is told. */
function knownSettings(source: SourceText, { settings, positionOf }: Frontmatter): ReadonlyMap<AgentOptionKey, Setting> {
  const known = new Map<AgentOptionKey, Setting>()
  for (const setting of settings) {
    const below = keysBelow(setting.key)
    if (below.length > 0) {
      for (const inner of settingsBelow(source, setting, positionOf)) take(inner, below, `${setting.key}.`)
    } else take(setting, topLevelKeys, '')
  }
  function take(setting: Setting, siblings: readonly string[], prefix: string): void {
    const option = agentOption(`${prefix}${setting.key}`)
    if (option) known.set(option.key, setting)
    else
      source.problem(
        setting.at,
        `there is no setting \`${prefix}${setting.key}\``,
        nearby(setting.key, siblings) ?? `There are ${listed(siblings)}.`,
      )
  }
  return known
}

function settingsBelow(source: SourceText, { key, at, value }: Setting, positionOf: (node: Node) => Frontmatter['at']): readonly Setting[] {
  if (!isMap<Node, Node | null>(value)) {
    const [first = ''] = keysBelow(key)
    const example = agentOption(`${key}.${first}`)?.option.example
    source.problem(at, `\`${key}\` must be a map of settings, not ${found(value)}`, `Write it like \`${key}: { ${first}: ${example} }\`.`)
    return []
  }
  return value.items.map((pair) => ({
    key: isScalar(pair.key) ? String(pair.key.value) : pair.key.toString(),
    at: positionOf(pair.key),
    value: pair.value ?? null,
    valueAt: positionOf(pair.value ?? pair.key),
  }))
}

interface Placed {
  readonly setting: Setting
  readonly positionOf: (node: Node) => Frontmatter['at']
}

function readSetting(source: SourceText, key: AgentOptionKey, { setting, positionOf }: Placed): Value | undefined {
  const likeThis = `Write it like \`${setting.key}: ${agentOptions[key].example}\`.`
  const tell = (node: Node | null, message: string, remedy = likeThis): void =>
    source.problem(node ? positionOf(node) : setting.valueAt, message, remedy)
  const read = readValue(key, agentOptions[key], setting.value)
  const whole = read.ok && key === 'output.schema' && setting.value ? readSchema(setting.value) : read
  if (!whole.ok) {
    for (const { node, message, remedy } of whole.faults) tell(node, message, remedy)
    return undefined
  }
  return { value: 'schema' in whole ? whole.schema : whole.value, tell: (message, remedy) => tell(null, message, remedy) }
}

/** Puts what a `schemaRef` leads to in its place. */
function withSchemaFile(source: SourceText, values: Values, readFile: AgentFileOptions['readFile']): Values {
  const reference = values.get('output.schemaRef')
  if (!reference) return values
  const path = String(reference.value)
  const others = new Map(values)
  others.delete('output.schemaRef')
  const text = readReference(reference, path, readFile)
  if (text === undefined) return others
  try {
    return others.set('output.schema', { ...reference, value: parseSchemaFile(text, path) })
  } catch (error) {
    if (!(error instanceof TroupeError)) throw error
    for (const problem of error.problems) source.elsewhere(problem)
    return others
  }
}

function readReference({ tell }: Value, path: string, readFile: AgentFileOptions['readFile']): string | undefined {
  try {
    if (readFile) return readFile(path)
    tell(`the schema \`${path}\` cannot be read here`, 'Write it out as `output.schema`.')
  } catch (error) {
    tell(`the schema \`${path}\` cannot be read: ${messageOf(error)}`, 'Give the path of a JSON or YAML file, relative to the agent file.')
  }
  return undefined
}

/** `agents/My agent.v2.ai` → `My-agent-v2`. */
function nameOf(place: string): string {
  const base = place.split(/[/\\]/).at(-1) ?? ''
  return base
    .replace(/\.ai$/i, '')
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .replace(/[^a-zA-Z0-9_-]+/g, '-')
    .slice(0, 64)
    .replace(/^-+|-+$/g, '')
}

import type { JsonObject, Problem } from '../contracts/index.ts'
import { agentOptions } from './agent-options.ts'
import { type AgentParts, agentParts } from './agent-parts.ts'
import { decodeText } from './decode-text.ts'
import { fileValues } from './file-values.ts'
import { type Frontmatter, readFrontmatter } from './frontmatter.ts'
import { layered } from './layer-values.ts'
import { type PlacedValue, type PlacedValues, type SaidValues, type Spot, spotOf } from './placed-value.ts'
import { fileStem, safeName } from './safe-name.ts'
import { type ReadSchemaFile, withSchemaFiles } from './schema-files.ts'
import { mostTold, SourceText } from './source-text.ts'

/** An agent as a file says it. Fits wherever the runtime takes a definition; its children are resolved by the registry. */
export interface AgentFile extends AgentParts {
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
  readonly children: readonly (Spot & { readonly written: string })[]
  /** Names and patterns of skills that it does not have, whatever it wants. */
  readonly disabledSkills: readonly string[]
  readonly enabled: boolean
  readonly metadata: JsonObject
  /** Everything that holds for it, defaults of the program aside. */
  readonly values: PlacedValues
  /** Where its settings open. */
  readonly at: Spot
  /** The line of the file that its prompt begins on. */
  readonly promptLine: number
}

export interface AgentFileOptions {
  /** What goes before the file. */
  readonly overrides?: SaidValues
  /** What holds where the file says nothing. */
  readonly defaults?: SaidValues
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
export function readFaultyText(
  content: string | Uint8Array,
  place: string,
  options: AgentFileOptions = {},
): { readonly read: ReadAgent; readonly problems: readonly Problem[] } {
  const source = new SourceText(decodeText(content, place), place)
  const read = readSource(source, place, options)
  return { read, problems: source.problems.slice(0, mostTold) }
}

function readSource(source: SourceText, place: string, options: AgentFileOptions): ReadAgent {
  const name = safeName(fileStem(place))
  if (name === '')
    source.problem({ line: 1, column: 1 }, `no name can be made of \`${place}\``, 'Rename the file: letters, digits, `-` and `_` are safe.')
  const read = readFrontmatter(source)
  const values = read ? valuesOf(source, read, options) : new Map()
  const children = values.get('agents')
  return {
    agent: { name, toolName: name, prompt: read?.prompt.text ?? '', ...agentParts(values) },
    children: children ? entriesOf(children) : [],
    disabledSkills: (values.get('disabledSkills')?.value as readonly string[] | undefined) ?? [],
    enabled: values.get('enabled')?.value !== false,
    metadata: (values.get('metadata')?.value as JsonObject | undefined) ?? {},
    values,
    at: source.spot(read?.at ?? { line: 1, column: 1 }),
    promptLine: read?.prompt.line ?? 1,
  }
}

function entriesOf(list: PlacedValue): ReadAgent['children'] {
  return (list.value as readonly string[]).map((written, index) => ({ written, ...spotOf(list, index) }))
}

function valuesOf(source: SourceText, read: Frontmatter, { overrides, defaults, readFile }: AgentFileOptions): PlacedValues {
  const { prompt, at, whole } = read
  if (prompt.text === '') source.problem(prompt.at, 'the prompt is empty', 'Below the closing `---`, write what the agent is to do.')
  const isDescribed = read.settings.some(({ key }) => key === 'description') || overrides?.has('description')
  if (!isDescribed && whole)
    source.problem(
      at,
      '`description` is missing',
      `Say in a line what the agent does: \`description: ${agentOptions.description.example}\`.`,
    )
  const own = fileValues(source, read)
  const stated = layered({ over: overrides, own, defaults })
  const { values, problems } = withSchemaFiles(stated, readFile)
  for (const problem of problems) source.elsewhere(problem)
  return values
}

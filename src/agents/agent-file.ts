import { isAlias, isMap, isScalar, isSeq, type Node } from 'yaml'
import { nearestNames } from '../util/nearest-names.ts'
import { decodeText } from './decode-text.ts'
import { type Frontmatter, readFrontmatter, type Setting } from './frontmatter.ts'
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
}

const keys = ['description', 'models'] as const
type Key = (typeof keys)[number]

/**
 * Reads a `.ai` file: an optional `#!` line, settings in YAML between two lines of `---`, and the prompt.
 * `place` is the path that names it, in problems too. Throws `agent_file_invalid` with everything that is wrong.
 */
export function parseAgentFile(content: string | Uint8Array, place: string): AgentFile {
  const source = new SourceText(decodeText(content, place), place)
  const name = nameOf(place)
  if (name === '')
    source.problem({ line: 1, column: 1 }, `no name can be made of \`${place}\``, 'Rename the file: letters, digits, `-` and `_` are safe.')
  const read = readFrontmatter(source)
  const file = { name, tools: [], ...(read ? readParts(source, read) : { description: '', models: [], prompt: '' }) }
  source.done('agent_file_invalid', 'the agent file')
  return file
}

function readParts(source: SourceText, read: Frontmatter): Pick<AgentFile, 'description' | 'models' | 'prompt'> {
  const { prompt } = read
  if (prompt.text === '') source.problem(prompt.at, 'the prompt is empty', 'Below the closing `---`, write what the agent is to do.')
  const settings = knownSettings(source, read)
  return {
    description: readDescription(source, read, settings.get('description')),
    models: readModels(source, read, settings.get('models')),
    prompt: prompt.text,
  }
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

function knownSettings(source: SourceText, { settings }: Frontmatter): Map<Key, Setting> {
  const known = new Map<Key, Setting>()
  for (const setting of settings) {
    const key = keys.find((one) => one === setting.key)
    if (key) known.set(key, setting)
    else source.problem(setting.at, `there is no setting \`${setting.key}\``, suggestion(setting.key))
  }
  return known
}

function readDescription(source: SourceText, { at, whole }: Frontmatter, setting: Setting | undefined): string {
  const text = setting && textOf(setting.value)?.trim()
  if (text) return text
  const remedy = 'Say in a line what the agent does: `description: Plans a trip by rail`.'
  if (!setting && whole) source.problem(at, '`description` is missing', remedy)
  else if (setting) source.problem(setting.valueAt, `\`description\` must be text, not ${kindOf(setting.value)}`, remedy)
  return ''
}

function readModels(source: SourceText, { at, whole, positionOf }: Frontmatter, setting: Setting | undefined): readonly string[] {
  const remedy = 'Name one, or several in the order in which they are tried: `models: [script/a.yaml, script/b.yaml]`.'
  if (!setting) {
    if (whole) source.problem(at, '`models` is missing', remedy)
    return []
  }
  const nodes = isSeq<Node>(setting.value) ? setting.value.items : [setting.value]
  if (nodes.length === 0) source.problem(setting.valueAt, '`models` is an empty list', remedy)
  const models: string[] = []
  for (const node of nodes) {
    const at = node ? positionOf(node) : setting.valueAt
    const name = textOf(node)?.trim()
    if (!name) source.problem(at, `a model must be a name, not ${kindOf(node)}`, remedy)
    else if (/\s/.test(name)) source.problem(at, `the name of a model has no spaces: \`${name}\``, remedy)
    else if (models.includes(name)) source.problem(at, `the model \`${name}\` is named twice`, 'Leave one of them out.')
    else models.push(name)
  }
  return models
}

function textOf(node: Node | null): string | undefined {
  return isScalar(node) && typeof node.value === 'string' ? node.value : undefined
}

function kindOf(node: Node | null): string {
  if (isMap(node)) return 'a map'
  if (isSeq(node)) return 'a list'
  if (isAlias(node)) return 'an alias'
  const value = isScalar(node) ? node.value : null
  if (value === null) return 'nothing'
  if (typeof value === 'string') return 'an empty one'
  return `the ${typeof value} ${String(value)}`
}

function suggestion(wanted: string): string {
  const near = nearestNames(wanted, keys)
  const names = (near.length > 0 ? near : keys).map((name) => `\`${name}\``).join(', ')
  return near.length > 0 ? `Did you mean ${names}?` : `There are ${names}.`
}

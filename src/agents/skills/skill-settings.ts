import { isMap, isScalar, isSeq, type Node } from 'yaml'
import { type Frontmatter, readFrontmatter, type Setting } from '../agent-file/frontmatter.ts'
import { quoteValues } from '../agent-file/lenient-frontmatter.ts'
import { describeNode, didYouMean, listNames } from '../values/messages.ts'
import { type Position, SourceText } from '../values/source-text.ts'
import { nodeToJson } from '../values/yaml-nodes.ts'
import type { SkillProblem } from './skill-problem.ts'

/** What a `SKILL.md` says of itself besides its name and description. None of it changes what may be done. */
export interface SkillDetails {
  readonly license?: string
  readonly compatibility?: string
  readonly metadata?: { readonly [key: string]: string }
  /** The tools that it was written for. They are allowed by the agent and by rules, never by a skill. */
  readonly allowedTools?: readonly string[]
}

export interface SkillSettings extends SkillDetails {
  readonly name?: string
  /** Absent where it is wrong; `problems` say so. */
  readonly description?: string
}

const keys = ['name', 'description', 'license', 'compatibility', 'metadata', 'allowed-tools'] as const
const isProse = (key: string): boolean => ['description', 'license', 'compatibility'].includes(key)
const fence = '---'
const maxSettingsLength = 32_768
/** Where a file is no YAML at all, the first faults say so. */
const maxReported = 5

/** Reads the settings of a `SKILL.md`. `tell` hears what is wrong; nothing is answered where they cannot be told from the rest. */
export function readSkillSettings(text: string, place: string, tell: (problem: SkillProblem) => void): SkillSettings | undefined {
  const source = new SourceText(text, place)
  const say: Say = (severity, at, [message, remedy]) => tell({ severity, message, remedy, ...source.spot(at) })
  if (!checkStructure(source.lines, say)) return undefined
  const read = readLeniently(text, place, { source, say })
  if (!read) {
    for (const problem of source.problems.slice(0, maxReported))
      tell({ severity: 'error', ...problem, remedy: problem.remedy ?? 'Mend it, or put the value in quotes.' })
    return undefined
  }
  return new SettingsReader(read, say).read()
}

type Say = (severity: SkillProblem['severity'], at: Position, words: readonly [message: string, remedy: string]) => void

function checkStructure(lines: readonly string[], say: Say): boolean {
  const open = lines.findIndex((line) => line.trim() !== '')
  const at = { line: Math.max(0, open) + 1, column: 1 }
  if (lines[open]?.trimEnd() !== fence) {
    say('error', at, [
      'a SKILL.md begins with its settings between two lines of `---`',
      'Begin with `---`, `name: …`, `description: …`, `---`.',
    ])
    return false
  }
  const close = lines.findIndex((line, index) => index > open && line.trimEnd() === fence)
  if (close === -1) {
    say('error', at, ['the settings that begin here are never closed', 'Put a line of `---` between the settings and the instructions.'])
    return false
  }
  const length = lines.slice(open + 1, close).reduce((sum, line) => sum + line.length + 1, 0)
  // Lines before them count with the parser, which is given as many empty ones.
  if (length + open + 1 > maxSettingsLength) {
    say('error', at, [`the settings are longer than ${maxSettingsLength} characters`, 'Long text belongs below the settings.'])
    return false
  }
  if (lines.slice(close + 1).every((line) => line.trim() === ''))
    say('warning', { line: close + 1, column: 1 }, ['there are no instructions below the settings', 'Write down what is to be done.'])
  return true
}

/** Many files have values such as `Use when: asked`, which is no YAML: they are read as if they stood in quotes. */
function readLeniently(text: string, place: string, { source, say }: { source: SourceText; say: Say }): Frontmatter | undefined {
  const strict = readFrontmatter(source)
  if (strict && source.problems.length === 0) return strict
  const quoted = quoteValues(text, isProse)
  if (!quoted) return undefined
  const second = new SourceText(quoted.text, place)
  const read = readFrontmatter(second)
  if (!read || second.problems.length > 0) return undefined
  for (const { key, line } of quoted.at)
    say('warning', { line, column: 1 }, [`\`${key}\` is not valid YAML, and is read as if it stood in quotes`, 'Put the value in quotes.'])
  return read
}

class SettingsReader {
  readonly #read: Frontmatter
  readonly #say: Say

  constructor(read: Frontmatter, say: Say) {
    this.#read = read
    this.#say = say
  }

  read(): SkillSettings {
    const settings: { -readonly [Key in keyof SkillSettings]: SkillSettings[Key] } = {}
    for (const setting of this.#read.settings) Object.assign(settings, this.#take(setting))
    if (!this.#read.settings.some(({ key }) => key === 'description'))
      this.#say('error', this.#read.at, ['`description` is missing', 'Say what the skill does and when it is of use.'])
    return settings
  }

  #take(setting: Setting): SkillSettings {
    const key = keys.find((known) => known === setting.key)
    switch (key) {
      case 'name':
        return this.#text(setting, { key, most: 64, severity: 'error' })
      case 'description':
        return this.#text(setting, { key, most: 1024, severity: 'error' })
      case 'compatibility':
        return this.#text(setting, { key, most: 500, severity: 'warning' })
      case 'license':
        return this.#text(setting, { key, most: 500, severity: 'warning' })
      case 'metadata':
        return this.#metadata(setting)
      case 'allowed-tools':
        return this.#allowedTools(setting)
      case undefined: {
        const remedy = didYouMean(setting.key, keys) ?? `There are ${listNames(keys)}; what else there is goes below \`metadata\`.`
        this.#say('warning', setting.at, [`there is no setting \`${setting.key}\` of skills: it has no effect`, remedy])
        return {}
      }
      default:
        return key satisfies never
    }
  }

  #text(
    { value, valueAt }: Setting,
    rule: { readonly key: string; readonly most: number; readonly severity: 'error' | 'warning' },
  ): object {
    const { key, most, severity } = rule
    const text = isScalar(value) && typeof value.value === 'string' ? value.value.trim() : ''
    if (text === '')
      this.#say(severity, valueAt, [
        `\`${key}\` must be text, not ${describeNode(value)}`,
        `Write it like \`${key}: …\`, in quotes if need be.`,
      ])
    else if (text.length > most)
      this.#say(severity, valueAt, [`\`${key}\` has ${text.length} characters, and ${most} is the most`, 'Shorten it.'])
    else return { [key]: text }
    return {}
  }

  #metadata({ value, valueAt }: Setting): SkillSettings {
    if (!isMap<Node, Node | null>(value)) {
      this.#say('warning', valueAt, [`\`metadata\` must be a map, not ${describeNode(value)}`, 'Write it like `metadata: { author: me }`.'])
      return {}
    }
    return { metadata: Object.fromEntries(value.items.map(({ key, value: each }) => [plain(key), plain(each)])) }
  }

  #allowedTools({ value, at, valueAt }: Setting): SkillSettings {
    const tools = isSeq<Node>(value)
      ? value.items.map(plain)
      : isScalar(value) && typeof value.value === 'string'
        ? toolNames(value.value)
        : undefined
    if (tools === undefined) {
      this.#say('warning', valueAt, [`\`allowed-tools\` must be names of tools, not ${describeNode(value)}`, 'Leave it out.'])
      return {}
    }
    const remedy = 'Give tools to the agent (`tools`), and allow their use by rules (`approvals`).'
    this.#say('info', at, ['`allowed-tools` allows nothing here: a skill cannot widen what an agent may do', remedy])
    return { allowedTools: tools }
  }
}

/** `Bash(git:*) Read`, or with commas; what stands in brackets belongs to its name. */
const toolNames = (text: string): readonly string[] => text.match(/[^\s,(]+(?:\([^)]*\)?)?/g) ?? []

const plain = (node: Node | null): string => {
  if (isScalar(node)) return String(node.value)
  return node === null ? '' : JSON.stringify(nodeToJson(node, []))
}

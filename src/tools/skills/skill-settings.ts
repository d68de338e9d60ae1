import { isMap, isScalar, isSeq, type Node } from 'yaml'
import type { Setting } from '../../yaml/frontmatter.ts'
import { readLenientFrontmatter } from '../../yaml/lenient-frontmatter.ts'
import { describeNode, suggestName } from '../../yaml/messages.ts'
import { type Position, SourceText } from '../../yaml/source-text.ts'
import { nodeToJson, textOfNode } from '../../yaml/yaml-nodes.ts'
import type { SkillProblem } from './skill-problem.ts'

/** Settings of a `SKILL.md` besides name and description. None of them grants anything. */
export interface SkillDetails {
  readonly license?: string
  readonly compatibility?: string
  readonly metadata?: { readonly [key: string]: string }
  /** The tools that it was written for. Only the agent and rules allow tools, never a skill. */
  readonly allowedTools?: readonly string[]
}

interface SkillSettings extends SkillDetails {
  readonly name?: string
  /** Absent if it is invalid, which is reported. */
  readonly description?: string
}

type Report = (problem: SkillProblem) => void

const textKeys = {
  name: { maxLength: 64, severity: 'error' },
  description: { maxLength: 1024, severity: 'error' },
  license: { maxLength: 500, severity: 'warning' },
  compatibility: { maxLength: 500, severity: 'warning' },
} as const
const keys: readonly string[] = [...Object.keys(textKeys), 'metadata', 'allowed-tools']
const isProse = (key: string): boolean => key !== 'name' && Object.hasOwn(textKeys, key)
const kind = { file: 'a SKILL.md', example: '`---`, `name: …`, `description: …`, `---`', body: 'the instructions' }
/** If a file is not YAML at all, only the first problems are reported. */
const maxProblems = 5

/** Reads the settings of a `SKILL.md`. `undefined` if they are not valid YAML. */
export function readSkillSettings(text: string, place: string, report: Report): SkillSettings | undefined {
  const source = new SourceText(text, place)
  const read = readLenientFrontmatter(source, { kind, isProse })
  for (const { remedy = '', ...warning } of source.warnings) report({ severity: 'warning', ...warning, remedy })
  if (!read || source.problems.length > 0) {
    for (const problem of source.problems.slice(0, maxProblems))
      report({ severity: 'error', ...problem, remedy: problem.remedy ?? 'Fix it, or put the value in quotes.' })
    return undefined
  }
  const reportAt: ReportAt = (severity, at, [message, remedy]) => report({ severity, message, remedy, ...source.locate(at) })
  if (read.prompt.text === '')
    reportAt('warning', read.prompt.at, ['there are no instructions below the settings', 'Write the instructions of the skill.'])
  if (!read.settings.some(({ key }) => key === 'description'))
    reportAt('error', read.at, ['`description` is missing', 'Describe what the skill does and when to use it.'])
  return Object.assign({}, ...read.settings.map((setting) => readSetting(setting, reportAt)))
}

type ReportAt = (severity: SkillProblem['severity'], at: Position, text: readonly [message: string, remedy: string]) => void

function readSetting(setting: Setting, report: ReportAt): SkillSettings {
  const { key, at } = setting
  if (Object.hasOwn(textKeys, key)) return readText(setting, key as keyof typeof textKeys, report)
  if (key === 'metadata') return readMetadata(setting, report)
  if (key === 'allowed-tools') return readAllowedTools(setting, report)
  report('warning', at, [`unknown key \`${key}\`: it has no effect`, `${suggestName(key, keys)} Put other facts under \`metadata\`.`])
  return {}
}

function readText({ value, valueAt }: Setting, key: keyof typeof textKeys, report: ReportAt): SkillSettings {
  const { maxLength, severity } = textKeys[key]
  const text = textOfNode(value)
  if (text === '')
    report(severity, valueAt, [`\`${key}\` must be text, not ${describeNode(value)}`, `Write it like \`${key}: …\`, in quotes if needed.`])
  else if (text.length > maxLength)
    report(severity, valueAt, [`\`${key}\` has ${text.length} characters; the maximum is ${maxLength}`, 'Make it shorter.'])
  else return { [key]: text }
  return {}
}

function readMetadata({ value, valueAt }: Setting, report: ReportAt): SkillSettings {
  if (isMap<Node, Node | null>(value))
    return { metadata: Object.fromEntries(value.items.map(({ key, value: each }) => [asText(key), asText(each)])) }
  report('warning', valueAt, [`\`metadata\` must be a map, not ${describeNode(value)}`, 'Write it like `metadata: { author: me }`.'])
  return {}
}

function readAllowedTools({ value, at, valueAt }: Setting, report: ReportAt): SkillSettings {
  const text = isScalar(value) && typeof value.value === 'string' ? splitTools(value.value) : undefined
  const allowedTools = isSeq<Node>(value) ? value.items.map(asText) : text
  if (allowedTools === undefined) {
    report('warning', valueAt, [`\`allowed-tools\` must be names of tools, not ${describeNode(value)}`, 'Remove it.'])
    return {}
  }
  const remedy = 'Give the agent the tools in `tools`, and allow their use by rules in `approvals`.'
  report('info', at, ['`allowed-tools` has no effect: a skill cannot grant tools', remedy])
  return { allowedTools }
}

/** `Bash(git:*) Read`, or with commas; brackets belong to the name. */
const splitTools = (text: string): readonly string[] => text.match(/[^\s,(]+(?:\([^)]*\)?)?/g) ?? []

const asText = (node: Node | null): string => {
  if (isScalar(node)) return String(node.value)
  return node === null ? '' : JSON.stringify(nodeToJson(node))
}

import { type ApprovalRule, type ClientToolRule, clientNameOf, ruleVerdicts } from '../contracts/index.ts'
import { nearestNames } from '../util/nearest-names.ts'
import { automaticTools, builtinToolNames } from './builtin-tool-names.ts'
import { agentPrefix, ownToolsForAny, readingTools, writingTools } from './foreign-tools.ts'
import { parseRulePattern } from './rule-pattern.ts'
import { samplingName } from './sampling-rules.ts'
import { matchesSource, matchesTool } from './tool-name-patterns.ts'
import { useToolName } from './tool-search.ts'
import { isImpossibleUnsandboxedRule, unsandboxedForms, unsandboxedName } from './unsandboxed-rules.ts'

/** The tools that rules and filters can name. */
export interface KnownTools {
  /** Besides the built-in ones: tools of a program, and `agent__…`. */
  readonly tools: readonly string[]
  /** Servers and OpenAPI documents that are configured. */
  readonly sources: readonly string[]
  /** Ids, whether the extensions run or not. */
  readonly extensions?: readonly string[]
  /** What clients may bring to the agent. */
  readonly clientTools?: ClientToolRule | undefined
}

/** Why a pattern can match no call. Always reported: somebody relies on it. */
export interface ToolNameProblem {
  /** `nothing`: no tool can have this name. The other kinds may exist in another project. */
  readonly kind: 'nothing' | 'no source' | 'no agent'
  readonly message: string
  readonly remedy: string
}

/** A call of `use_tool` is a call of its target, for rules and hooks, too. */
const ownNames: readonly string[] = [...builtinToolNames, ...Object.keys(automaticTools), unsandboxedName, samplingName].filter(
  (name) => name !== useToolName,
)
const targetProblem: ToolNameProblem = {
  kind: 'nothing',
  message: `\`${useToolName}\` matches nothing: a call of it is a call of the tool that it names`,
  remedy: 'Write the name of that tool, such as `server/tool` or `server/*`.',
}

/** Why a pattern of a rule, such as `shell(git *)`, matches no call. */
export function rulePatternProblem(pattern: string, known: KnownTools): ToolNameProblem | undefined {
  if (isImpossibleUnsandboxedRule(pattern)) return { kind: 'nothing', message: `\`${pattern}\` matches nothing`, remedy: unsandboxedForms }
  const { tool, use } = parseRulePattern(pattern)
  const named = nameProblem(tool, known, use)
  if (named || use === undefined) return named
  const written = ruleFor(tool, use)
  if (written === pattern) return undefined
  const path = 'Write an absolute path, or a path from the root of the workspace without `~` and `..`.'
  return { kind: 'nothing', message: `\`${pattern}\` matches nothing`, remedy: written === undefined ? path : `Write \`${written}\`.` }
}

/** The same for a name without a use, such as `shell`, `write_*` or `server/*`. */
export const toolNameProblem = (name: string, known: KnownTools): ToolNameProblem | undefined => nameProblem(name, known, undefined)

function mayBring(rule: ClientToolRule | undefined, name: string): boolean {
  if (rule === undefined || typeof rule === 'string') return rule === 'allow'
  return name.includes('*') || rule.some((pattern) => matchesTool(pattern, clientNameOf(name)))
}

function nameProblem(
  name: string,
  { tools, sources, extensions = [], clientTools }: KnownTools,
  use: string | undefined,
): ToolNameProblem | undefined {
  if (mayBring(clientTools, name)) return undefined
  const all = [...new Set([...ownNames, ...tools])]
  if (sources.some((source) => matchesSource(name, source)) || all.some((each) => matchesTool(name, each))) return undefined
  if (extensions.some((id) => matchesSource(name, id) || matchesTool(name, `${agentPrefix}${id}`))) return undefined
  if (name === useToolName) return targetProblem
  const ours = ownToolsForAny(name, 'ruled')
  if (ours) {
    const written = ours.map((each) => `\`${use === undefined || each.includes('(') ? each : (ruleFor(each, use) ?? each)}\``)
    return { kind: 'nothing', message: `\`${name}\` is a tool of another program`, remedy: `Here, write ${written.join(' and ')}.` }
  }
  return unknownNameProblem(name, all, sources)
}

function unknownNameProblem(name: string, all: readonly string[], sources: readonly string[]): ToolNameProblem | undefined {
  const isAgent = name.startsWith(agentPrefix)
  const near = isAgent ? nearestAgents(name, all) : nearestNames(name, all)
  const meant = near.length > 0 ? `Did you mean ${near.map((each) => `\`${each}\``).join(', ')}?` : undefined
  if (isAgent) {
    if (name === `${agentPrefix}*`) return undefined
    const message = `no agent is called \`${name.slice(agentPrefix.length)}\` here`
    return { kind: 'no agent', message, remedy: meant ?? 'Remove it, or add the agent to the team.' }
  }
  const [, server, source = server] = /^mcp__([\w-]+?)(?:__|$)|^([\w*-]+)[/.]/.exec(name) ?? []
  if (source !== undefined) {
    if (source.includes('*') || sources.includes(source)) return undefined
    const message = `\`${name}\` matches nothing: no server or extension \`${source}\` is configured`
    return { kind: 'no source', message, remedy: `Remove it, or configure \`${source}\` first.` }
  }
  return { kind: 'nothing', message: `no tool is called \`${name}\``, remedy: meant ?? `The tools are ${all.join(', ')}.` }
}

function nearestAgents(name: string, all: readonly string[]): readonly string[] {
  const agents = all.flatMap((each) => (each.startsWith(agentPrefix) ? [each.slice(agentPrefix.length)] : []))
  return nearestNames(name.slice(agentPrefix.length), agents).map((each) => `${agentPrefix}${each}`)
}

const fileTools: readonly string[] = [...readingTools, ...writingTools]

/** The rule in a form that can match; `undefined` if only its author knows it. */
function ruleFor(tool: string, use: string): string | undefined {
  const written = useOf(tool, use.trim())
  return written === '' ? tool : written && `${tool}(${written})`
}

function useOf(tool: string, use: string): string | undefined {
  // In rules of Claude Code, `rm:*` is `rm` with any arguments.
  if (tool === 'shell') return use.replace(/^([^\s:*]+):\*$/, '$1 *')
  if (tool === 'web_fetch')
    return use
      .replace(/^[^/]*:\/\//, '')
      .replace(/\/.*$/s, '')
      .toLowerCase()
  if (!fileTools.includes(tool)) return use
  if (/^(?:protected )?~|(?:^|\/)\.\.(?:\/|$)/.test(use)) return undefined
  return use.endsWith('/') ? `${use}*` : use
}

export const patternsOf = (rule: ApprovalRule): readonly string[] => ruleVerdicts.flatMap((verdict) => rule[verdict] ?? [])

/** The rules without patterns that match nothing, which have been reported already. */
export function knownRules(rules: readonly ApprovalRule[], known: KnownTools): readonly ApprovalRule[] {
  if (rules.every((rule) => patternsOf(rule).every((pattern) => !rulePatternProblem(pattern, known)))) return rules
  return rules.flatMap((rule) => {
    const verdict = ruleVerdicts.find((each) => rule[each] !== undefined)
    const patterns = patternsOf(rule).filter((pattern) => !rulePatternProblem(pattern, known))
    return verdict && patterns.length > 0 ? [{ ...rule, [verdict]: patterns }] : []
  })
}

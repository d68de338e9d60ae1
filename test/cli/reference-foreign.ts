import { foreignToolNames, ownToolsFor, readingTools } from '../../src/policy/foreign-tools.ts'
import { dialectFolders } from '../../src/project/dialects/detect-dialect.ts'
import type { Dialect } from '../../src/project/dialects/foreign-agent.ts'
import { modelAliases } from '../../src/project/dialects/foreign-models.ts'
import { type ChoiceMeaning, dialectTables, type KeyRule } from '../../src/project/dialects/key-tables.ts'
import { code, made, page, table } from './markdown.ts'

const titles: { readonly [D in Dialect]: string } = {
  claude: 'Claude Code',
  copilot: 'GitHub Copilot',
  opencode: 'opencode',
  gemini: 'Gemini CLI',
  codex: 'Codex',
}

/** The meaning of a key. Does not compile unless every kind of rule is listed. */
function meaning(rule: KeyRule): string {
  switch (rule.kind) {
    case 'text':
      return rule.into === 'prompt' ? 'the prompt' : code(rule.into)
    case 'models':
      return '`models`; for names see below'
    case 'tools':
      return '`tools`, see below; default: all'
    case 'denied':
      return 'tools that the agent does not have'
    case 'permissions':
      return '`approvals.rules`: [allow, ask or deny](../guide.md#rules-in-files-of-other-programs), never looser than the session'
    case 'names':
      return code(rule.into)
    case 'number':
      return rule.into === 'maxToolTurns' ? '`limits.maxToolTurns`' : `\`parameters.${rule.into}\``
    case 'minutes':
      return '`limits.timeBudget`, in minutes'
    case 'effort':
      return '`parameters.reasoning`'
    case 'servers':
      return 'read and shown; no server is started in this version'
    case 'choice':
      return Object.entries(rule.of)
        .map(([value, each]) => `${code(value)}: ${choiceText(each)}`)
        .join('; ')
    case 'metadata':
      return 'kept, without effect'
    case 'unsupported':
      return `not supported: ${rule.instead}`
    default:
      return rule satisfies never
  }
}

function choiceText({ infer, enabled, refused, warning }: ChoiceMeaning): string {
  if (refused !== undefined) return `refused, ${refused}`
  if (warning !== undefined) return warning
  if (enabled === false) return 'the agent is not available'
  if (infer !== undefined) return infer ? 'a candidate for agent selection' : 'not a candidate for agent selection'
  return 'as usual'
}

function toolRows(dialect: Dialect): readonly (readonly string[])[] {
  return foreignToolNames(dialect).map((name) => [code(name), (ownToolsFor(dialect, name) ?? []).map(code).join(', ')])
}

const sections = (Object.keys(titles) as Dialect[]).map((dialect) => {
  const { format, namedBy, keys } = dialectTables[dialect]
  const rows = Object.entries(keys).map(([key, rule]) => [code(key), meaning(rule)])
  const tools = toolRows(dialect)
  const named = namedBy === 'key' ? 'The name of the agent is `name`' : 'The name of the agent is the name of its file'
  return [
    `## ${titles[dialect]}`,
    `${named}; the file is ${format === 'toml' ? 'TOML' : 'Markdown with settings above the prompt'}. Other keys are reported and have no effect.`,
    table(['key', 'in Troupe'], rows),
    ...(tools.length > 0 ? [table(['tool', 'in Troupe'], tools)] : []),
  ]
})

export const foreignPage = page([
  ['# Files of other programs', made],
  [
    `Troupe runs agent files of other programs unchanged: \`troupe run .claude/agents/reviewer.md "…"\`. \`troupe agents list\` lists those in ${dialectFolders.map(code).join(', ')}. \`troupe validate\` shows which settings of each file take effect.`,
    `Until you trust such a file (\`troupe trust FILE\`, bound to its content), its agent has only ${readingTools.map(code).join(', ')} and starts no programs. With trust, it has the tools that the file grants, within the rules of the session. A file never loosens approvals, rules or the sandbox.`,
    'Names of other agents in a file refer to the agents that `troupe agents list` shows. To convert a file to an agent file, start with the template of `troupe run FILE --help`.',
  ],
  [
    '## Models',
    `A name is searched in \`models\` of the [configuration](configuration.md) first. Then these aliases apply: ${Object.entries(
      modelAliases,
    )
      .map(([alias, name]) => `${code(alias)} is ${code(name)}`)
      .join(
        ', ',
      )}. \`inherit\`, \`auto\` and \`default\` mean the model of the session. Names that start with \`claude-\`, \`gpt-\`, \`o3\`, \`codex-\` or \`gemini-\`, also as titles (\`Claude Sonnet 4.5 (copilot)\`), get their provider. Any other name is used unchanged and reported.`,
  ],
  ...sections,
])

import { dialectFolders } from '../../src/agents/dialects/detect-dialect.ts'
import type { Dialect } from '../../src/agents/dialects/foreign-agent.ts'
import { modelAliases } from '../../src/agents/dialects/foreign-models.ts'
import { type ChoiceMeaning, dialectTables, type KeyRule } from '../../src/agents/dialects/key-tables.ts'
import { foreignToolNames, ownToolsFor, readingTools } from '../../src/policy/foreign-tools.ts'
import { code, made, page, table } from './markdown.ts'

const titles: { readonly [D in Dialect]: string } = {
  claude: 'Claude Code',
  copilot: 'GitHub Copilot',
  opencode: 'opencode',
  gemini: 'Gemini CLI',
  codex: 'Codex',
}

/** What becomes of the value of a key. Does not compile unless every kind of rule that there is stands here. */
function meaning(rule: KeyRule): string {
  switch (rule.kind) {
    case 'text':
      return rule.into === 'prompt' ? 'the prompt' : code(rule.into)
    case 'models':
      return '`models`; its names are looked for as told below'
    case 'tools':
      return '`tools`, as told below; left out, the agent has all of them'
    case 'denied':
      return 'tools that it does not have'
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
      return 'kept, and changes nothing'
    case 'unsupported':
      return `not done: ${rule.instead}`
    default:
      return rule satisfies never
  }
}

function choiceText({ infer, enabled, refused, warning }: ChoiceMeaning): string {
  if (refused !== undefined) return `refused, ${refused}`
  if (warning !== undefined) return warning
  if (enabled === false) return 'it is not there'
  if (infer !== undefined) return infer ? 'it may be chosen by what is asked' : 'it is not chosen by what is asked'
  return 'as usual'
}

function toolRows(dialect: Dialect): readonly (readonly string[])[] {
  return foreignToolNames(dialect).map((name) => [code(name), (ownToolsFor(dialect, name) ?? []).map(code).join(', ')])
}

const sections = (Object.keys(titles) as Dialect[]).map((dialect) => {
  const { format, namedBy, keys } = dialectTables[dialect]
  const rows = Object.entries(keys).map(([key, rule]) => [code(key), meaning(rule)])
  const tools = toolRows(dialect)
  const named = namedBy === 'key' ? 'The agent is called what `name` says' : 'The agent is called what its file is called'
  return [
    `## ${titles[dialect]}`,
    `${named}; the file is ${format === 'toml' ? 'TOML' : 'Markdown with settings above the prompt'}. Keys that are not here are told, and change nothing.`,
    table(['key', 'here'], rows),
    ...(tools.length > 0 ? [table(['tool there', 'here'], tools)] : []),
  ]
})

export const foreignPage = page([
  ['# Files of other programs', made],
  [
    `Agents that a project has for other programs are taken as they stand: \`troupe run .claude/agents/reviewer.md "…"\`. \`troupe agents list\` shows those in ${dialectFolders.map(code).join(', ')}; \`troupe validate\` says what of each file counts and what does not, with its place.`,
    `Until somebody has trusted such a file (\`troupe trust FILE\`, bound to its content), its agent has only ${readingTools.map(code).join(', ')} and starts nothing. With trust it has what the file grants, within what the session allows: files never loosen approvals, rules or the sandbox.`,
    'A file that names a colleague finds it among the agents that `troupe agents list` shows. To make a file of your own out of one, begin with the template of `troupe run FILE --help`.',
  ],
  [
    '## Models',
    `A name is looked for in \`models\` of the [configuration](configuration.md) first. Then these stand for others: ${Object.entries(
      modelAliases,
    )
      .map(([alias, name]) => `${code(alias)} is ${code(name)}`)
      .join(
        ', ',
      )}. \`inherit\`, \`auto\` and \`default\` mean the model that the session has. Names that begin with \`claude-\`, \`gpt-\`, \`o3\`, \`codex-\` or \`gemini-\`, also as titles (\`Claude Sonnet 4.5 (copilot)\`), get their provider; any other is kept as it is, and told.`,
  ],
  ...sections,
])

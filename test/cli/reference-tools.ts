import { tmpdir } from 'node:os'
import type { JsonObject, JsonSchema, Tool } from '../../src/contracts/index.ts'
import { automaticTools, builtinToolNames } from '../../src/policy/builtin-tool-names.ts'
import { loadSkillTool } from '../../src/tools/builtin/index.ts'
import { agentDirectory, childControlTools, readOutputTool, schemaValidator, toolSearch } from '../../src/tools/index.ts'
import { workspaceTools } from '../../src/tools.ts'
import { code, made, page, table, textOf } from './markdown.ts'

const all: readonly Tool[] = [
  ...workspaceTools({ workspace: tmpdir() }).tools,
  readOutputTool(),
  loadSkillTool(),
  ...agentDirectory(schemaValidator()),
  ...toolSearch,
  ...childControlTools(schemaValidator()),
]

/** Every built-in tool, by its name. */
export const toolsByName: ReadonlyMap<string, Tool> = new Map(all.map((tool) => [tool.name, tool]))

/** One input for each; a test validates it against the schema. */
export const exampleInputs: { readonly [tool: string]: JsonObject } = {
  list_files: { pattern: 'src/**/*.ts' },
  search_files: { pattern: 'TODO', path: 'src', context: 2 },
  read_file: { path: 'src/main.ts', offset: 200, limit: 50 },
  write_file: { path: 'notes/today.md', content: 'Cut the hedge\n' },
  edit_file: { path: 'src/main.ts', old: 'const most = 5', new: 'const most = 7' },
  apply_patch: {
    patch: ['*** Begin Patch', '*** Update File: notes/today.md', '-Cut the hedge', '+Cut the hedge, and sweep up', '*** End Patch'].join(
      '\n',
    ),
  },
  shell: { command: 'npm test', cwd: 'packages/a', timeout: 300 },
  web_fetch: { url: 'https://www.example.com/', format: 'text' },
  update_plan: {
    plan: [
      { step: 'Find the bug', status: 'completed' },
      { step: 'Fix it', status: 'in_progress' },
    ],
  },
  ask_user: { question: 'Tea or coffee?', options: ['tea', 'coffee'] },
  read_output: { handle: '7d2c…', search: 'error', context: 5 },
  load_skill: { name: 'letter', file: 'examples/thanks.md' },
  find_agents: { query: 'a train to Bergen' },
  delegate_task: { agent: 'trains', prompt: 'The first train from Oslo to Bergen on Saturday' },
  find_tools: { query: 'create an issue' },
  use_tool: { tool: 'github__create_issue', input: { title: 'The train is late' } },
  spawn_agent: { agent: 'researcher', prompt: 'Find the opening hours of the museums in Oslo.' },
  send_agent_input: { id: 'researcher#1', text: 'Only those that open on Mondays.' },
  wait_for_agent: { ids: ['researcher#1', 'researcher#2'], mode: 'any', timeout: 60 },
  close_agent: { id: 'researcher#1' },
  list_agents: {},
}

interface Field extends JsonSchema {
  readonly type?: string
  readonly description?: string
  readonly enum?: readonly string[]
  readonly minimum?: number
  readonly maximum?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly items?: Field
  readonly properties?: { readonly [key: string]: Field }
  readonly required?: readonly string[]
}

function sortOf({ type, enum: words, items, ...bounds }: Field): string {
  if (words) return `one of ${words.map(code).join(', ')}`
  if (type === 'array') return `a list of ${between(bounds.minItems, bounds.maxItems)}${items?.type === 'object' ? 'objects' : 'strings'}`
  if (type === 'integer' || type === 'number') return `${type === 'integer' ? 'an integer' : 'a number'}${range(bounds)}`
  if (type === 'string') return bounds.maxLength === undefined ? 'a string' : `a string of up to ${bounds.maxLength} characters`
  return type === 'boolean' ? '`true` or `false`' : 'an object'
}

const between = (least: number | undefined, most: number | undefined): string =>
  least === undefined || most === undefined ? '' : `${least} to ${most} `

function range({ minimum, maximum }: Field): string {
  if (minimum === undefined) return ''
  return maximum === undefined ? ` from ${minimum}` : ` from ${minimum} to ${maximum}`
}

function rowsOf({ properties = {}, required = [] }: Field, above = ''): readonly (readonly string[])[] {
  return Object.entries(properties).flatMap(([name, field]) => [
    [code(`${above}${name}`), field.description ?? '', sortOf(field), required.includes(name) ? 'yes' : 'no'],
    ...(field.items?.type === 'object' ? rowsOf(field.items, `${above}${name}[].`) : []),
  ])
}

function sectionOf(name: string): readonly string[] {
  const tool = toolsByName.get(name)
  if (!tool) throw new Error(`There is no tool ${name}.`)
  const [first = '', ...rest] = tool.description.split('\n')
  const given = automaticTools[name]
  return [
    `## ${name}`,
    `${first}${given === undefined ? '' : ` Added automatically: ${given}.`}`,
    ...(rest.length > 0 ? [['```text', ...rest.slice(0, -1), '```'].join('\n'), rest.at(-1) ?? ''] : []),
    table(['input', 'meaning', 'value', 'required'], rowsOf(tool.inputSchema as Field)),
    ['```json', JSON.stringify(exampleInputs[name] ?? textOf({}, name)), '```'].join('\n'),
  ]
}

export const toolsPage = page([
  ['# Tools', made],
  [
    "The built-in tools as models see them, and the input that a [script](scripts.md), a [hook](hooks.md) or an approver gets. Unknown fields are refused. Every tool also takes `reason`, the model's reason for the call. People see it; hooks and the tool do not.",
    'Paths are relative to the workspace, the folder in which you run the command. Which tools need approval: [Guide](../guide.md#tools).',
  ],
  ...[...builtinToolNames, ...Object.keys(automaticTools)].map(sectionOf),
])

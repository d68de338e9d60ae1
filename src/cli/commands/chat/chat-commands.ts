import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { type SessionEntry, type SkillCard, TroupeError } from '../../../contracts/index.ts'
import { plural } from '../../../util/plural.ts'
import { price, timeText, tokens, treeSummary } from '../../../view/index.ts'
import { renderSummary } from '../../progress/tree/render-summary.ts'
import { renderTurn } from '../../progress/tree/render-tree.ts'
import { columns } from '../../terminal/columns.ts'
import { printable } from '../../terminal/printable.ts'
import { budgetRows, modelOf, spentIn } from './chat-figures.ts'
import type { Choice } from './complete-text.ts'
import { agentNamed, type Conversation, isOf } from './conversation.ts'
import type { TranscriptView } from './transcript.ts'

// What a person can do with `/`. One list for completion, help and documentation.

export interface CommandContext {
  readonly conversation: Conversation
  readonly view: TranscriptView
  now(): number
  leave(): void
  /** Whether keys are read, not lines. */
  readonly hasKeys: boolean
}

export interface ChatCommand {
  readonly name: string
  /** Other names that people know. Not completed. */
  readonly alias?: string
  /** Placeholder of its argument. */
  readonly argument?: string
  readonly summary: string
  /** Default: always. */
  isAvailable?(conversation: Conversation): boolean
  /** Values that can be completed. */
  values?(conversation: Conversation): readonly Choice[] | Promise<readonly Choice[]>
  /** Returns what it prints. */
  run(argument: string, context: CommandContext): Promise<readonly string[]> | readonly string[]
}

const choice = (text: string): Choice => ({ text, about: '' })
const modelsOf = ({ service, agent }: Conversation): readonly string[] => [...new Set([...agent.models, ...service.models])]
const agentsOf = ({ service }: Conversation): readonly string[] => service.sessions.agents().map(({ name }) => name)

const listed = 20

/** Of the agents here, newest first. */
async function otherSessions({ service, sessionId }: Conversation): Promise<readonly SessionEntry[]> {
  const agents = service.sessions.agents()
  const sessions = await service.recent(listed)
  return sessions.filter((session) => session.sessionId !== sessionId && agents.some((agent) => isOf(session, agent)))
}

const sessionFacts = ({ agent, status, updatedAt, cost, title }: SessionEntry): string =>
  [agent, status, timeText(updatedAt), cost === undefined ? '' : price(cost), `“${printable(title)}”`]
    .filter((fact) => fact !== '')
    .join(' · ')

export const chatCommands: readonly ChatCommand[] = [
  { name: 'help', summary: 'Show commands and keys', run: (_, context) => helpLines(context) },
  {
    name: 'model',
    argument: '[NAME]',
    summary: 'Show or choose the model of the next turns',
    values: (conversation) => modelsOf(conversation).map(choice),
    async run(name, { conversation }) {
      const { service, agent } = conversation
      if (name === '') return [`Model: ${modelOf(conversation)}. Models of ${agent.name}: ${modelsOf(conversation).join(', ')}.`]
      await service.checkModel(name, agent)
      conversation.model = name
      return [`The next turn uses ${printable(name)}.`]
    },
  },
  {
    name: 'agent',
    argument: '[NAME]',
    summary: 'List the agents, or start a new session with one',
    values: (conversation) => agentsOf(conversation).map(choice),
    run(name, { conversation, view }) {
      const agents = conversation.service.sessions.agents()
      if (name === '')
        return columns(
          agents.map((each) => [each.name, printable(each.description)] as const),
          { maxWidth: view.width },
        )
      const agent = agentNamed(name, agents)
      if (agent) conversation.fresh(agent)
      return [`New session with ${conversation.agent.name}.`]
    },
  },
  { name: 'tools', summary: 'List the tools of the agent', run: (_, context) => toolLines(context) },
  {
    name: 'budget',
    summary: 'Show the limits of the agent and what the turn has used',
    run: (_, { conversation, now, view }) => columns(budgetRows(conversation, now()), { maxWidth: view.width }),
  },
  { name: 'cost', summary: 'Show tokens and cost of the session, by agent, model and tool', run: (_, context) => costLines(context) },
  { name: 'details', summary: 'Show everything that the last turn did (Ctrl-O)', run: (_, context) => detailLines(context) },
  { name: 'sessions', summary: 'List the sessions of this folder', run: (_, context) => sessionLines(context) },
  {
    name: 'resume',
    argument: '[ID]',
    summary: 'Continue a session; without ID, the last other one',
    values: async (conversation) =>
      (await otherSessions(conversation)).map((session) => ({ text: session.sessionId, about: sessionFacts(session) })),
    async run(id, { conversation }) {
      const [other] = id === '' ? await otherSessions(conversation) : []
      if (id === '' && !other) return ['There is no other session in this folder.']
      await conversation.open(other?.sessionId ?? id)
      return []
    },
  },
  {
    name: 'fork',
    summary: 'Copy the session and continue in the copy',
    async run(_, { conversation }) {
      const id = requiredSession(conversation)
      await conversation.open(await conversation.service.sessions.fork(id))
      return [`This is a copy of ${id}.`]
    },
  },
  {
    name: 'prompt',
    argument: 'SERVER/NAME [KEY=VALUE ...]',
    summary: 'Send a prompt of an MCP server',
    isAvailable: ({ service }) => service.prompt !== undefined,
    async run(argument, { conversation }) {
      await conversation.say((await conversation.service.prompt?.(argument.split(/\s+/))) ?? '')
      return []
    },
  },
  {
    name: 'export',
    argument: '[FILE]',
    summary: 'Save the session as one JSON file',
    async run(file, { conversation }) {
      const id = requiredSession(conversation)
      const path = resolve(conversation.service.workspace ?? '.', file === '' ? `session-${id}.json` : file)
      const document = await conversation.service.sessions.export(id)
      try {
        // Never over another file.
        await writeFile(path, `${JSON.stringify(document)}\n`, { flag: 'wx', mode: 0o600 })
      } catch (error) {
        throw new TroupeError('usage', `${path} cannot be written: ${(error as Error).message}`, {
          remedy: 'Name another file: /export FILE',
          cause: error,
        })
      }
      return [`Saved in ${path}.`]
    },
  },
  {
    name: 'new',
    alias: 'clear',
    summary: 'Start a new session',
    run(_, { conversation }) {
      conversation.fresh()
      return [`New session with ${conversation.agent.name}.`]
    },
  },
  {
    name: 'quit',
    alias: 'exit',
    summary: 'Leave (Ctrl-D, or Ctrl-C twice)',
    run(_, { leave }) {
      leave()
      return []
    },
  },
]

/** With one for each skill of the agent. */
export function availableCommands(conversation: Conversation): readonly ChatCommand[] {
  const { service, agent } = conversation
  const skills = service.skills?.(agent) ?? []
  return [
    ...chatCommands.filter(({ isAvailable }) => isAvailable?.(conversation) ?? true),
    ...skills.filter(({ name }) => !chatCommands.some((each) => each.name === name || each.alias === name)).map(skillCommand),
  ]
}

const skillCommand = ({ name, description }: Pick<SkillCard, 'name' | 'description'>): ChatCommand => ({
  name,
  argument: '[TEXT]',
  summary: `Skill: ${description}`,
  async run(text, { conversation }) {
    await conversation.say([`Load the skill ${name} and follow it.`, text].filter((part) => part !== '').join('\n\n'))
    return []
  },
})

interface NamedCommand {
  readonly command: ChatCommand
  readonly argument: string
}

const partsOf = (text: string): readonly string[] => /^\/([\w-]*)(?:\s+([^\n]*))?$/.exec(text.trim()) ?? []

/** The command that a text names in full: other texts are the answer to a request. */
export function exactCommandIn(text: string, conversation: Conversation): NamedCommand | undefined {
  const [, name, argument = ''] = partsOf(text)
  const command = name && availableCommands(conversation).find((each) => each.name === name || each.alias === name)
  return command ? { command, argument: argument.trim() } : undefined
}

/** The command and the argument that a text names. `undefined`: it is a message. Two slashes begin a message with one. */
export function commandIn(text: string, conversation: Conversation): NamedCommand | undefined {
  const [, name, argument = ''] = partsOf(text)
  if (name === undefined) return undefined
  const found = exactCommandIn(text, conversation)
  if (found) return found
  const commands = availableCommands(conversation)
  const [only, ...others] = commands.filter((each) => each.name.startsWith(name))
  if (only && others.length === 0) return { command: only, argument: argument.trim() }
  throw new TroupeError('usage', `There is no command /${name}.`, { remedy: 'List them: /help. To send it as a message, begin with //.' })
}

/** The message without the first of two slashes. */
export const messageIn = (text: string): string => (text.startsWith('//') ? text.slice(1) : text)

function requiredSession({ sessionId }: Conversation): SessionEntry['sessionId'] {
  if (sessionId !== undefined) return sessionId
  throw new TroupeError('usage', 'There is no session yet.', { remedy: 'Send a message first.' })
}

export const keyRows = [
  ['Enter', 'send; while the agent works, steer it'],
  ['Alt-Enter, Ctrl-J', 'new line'],
  ['Tab', 'complete a /command or an @path'],
  ['↑ ↓', 'earlier lines'],
  ['Esc, Ctrl-C', 'stop the turn'],
  ['Ctrl-O', 'details of the last turn'],
  ['Ctrl-C twice, Ctrl-D', 'leave'],
] as const

function helpLines({ conversation, view: { width }, hasKeys }: CommandContext): readonly string[] {
  const rows = availableCommands(conversation).map(
    ({ name, argument, summary }) => [`/${name}${argument === undefined ? '' : ` ${argument}`}`, summary] as const,
  )
  return [...columns(rows, { maxWidth: width }), ...(hasKeys ? ['', ...columns(keyRows, { maxWidth: width })] : [])]
}

async function toolLines({ conversation: { service, agent }, view }: CommandContext): Promise<readonly string[]> {
  const { tools, sources } = await service.sessions.agentSetup(agent.name)
  const agents = agent.agents.map((name) => [name, 'agent'] as const)
  const servers = sources.map((name) => [name, 'MCP server: lists its tools when a session begins'] as const)
  const rows = [
    ...tools.map(
      ({ name, approval, description }) => [name, `${approval === 'none' ? '' : `[${approval}] `}${printable(description)}`] as const,
    ),
    ...agents,
    ...servers,
  ]
  return rows.length === 0 ? [`${agent.name} has no tools.`] : columns(rows, { maxWidth: view.width })
}

function costLines({ conversation, now, view }: CommandContext): readonly string[] {
  const [root] = conversation.tree.roots
  if (!root) return ['Nothing was used yet.']
  const { usage, cost } = spentIn(conversation)
  return [
    ...renderSummary(treeSummary(root, now()), view),
    '',
    `${plural(root.turns.length, 'turn')} · ${tokens(usage)} tokens · ${price(cost) || '$0'}`,
  ]
}

/** The last turn as a tree. */
export function detailLines({ conversation: { tree, turn }, now, view }: CommandContext): readonly string[] {
  const [root] = tree.roots
  if (!root || !turn) return ['There is no turn yet.']
  const moment = turn.status === 'running' ? ({ kind: 'live', now: now() } as const) : ({ kind: 'final' } as const)
  return renderTurn(root, turn, { paint: view.paint, width: view.width + 1, moment })
}

async function sessionLines({ conversation: { service, sessionId }, view }: CommandContext): Promise<readonly string[]> {
  const sessions = await service.recent(listed)
  if (sessions.length === 0) return ['There are no sessions in this folder.']
  const rows = sessions.map((each) => [each.sessionId === sessionId ? `${each.sessionId} *` : each.sessionId, sessionFacts(each)] as const)
  return [...columns(rows, { maxWidth: view.width }), 'Continue one: /resume ID']
}

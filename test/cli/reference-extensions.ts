import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../documentation.ts'
import { code, made, page, table } from './markdown.ts'

const sources = ['extension.ts', 'outgoing-message.ts', 'tool.ts', 'failures.ts', 'approvals.ts', 'principal.ts']
  .map((file) => readFileSync(join(root, 'src/contracts', file), 'utf8'))
  .join('\n')

/** The declaration of a type with its comment. An interface ends at the first `}` that is not indented, others at an empty line. */
function declaration(name: string): string {
  const comment = String.raw`(?:/\*\*(?:(?!\*/)[\s\S])*\*/\n)?`
  const found = new RegExp(String.raw`${comment}export (?:interface ${name}\b[\s\S]*?\n\}|type ${name}\b[\s\S]*?(?=\n\n|\nexport ))`).exec(
    sources,
  )
  if (!found) throw new Error(`There is no type ${name}.`)
  return found[0].replaceAll(/^export /gm, '').replaceAll('readonly ', '')
}

const groups: readonly (readonly [title: string, names: readonly string[]])[] = [
  ['Lifecycle', ['Extension', 'HealthReport', 'AnyExtension']],
  ['Tools', ['ToolProvider', 'Tool', 'ToolOutput', 'ToolPart', 'ToolFailure', 'ToolContext']],
  ['Approvals of tools', ['ApprovalWish', 'ApprovalKey']],
  ['Agents', ['AgentProvider', 'AgentDescriptor', 'InvokeCall', 'Principal', 'AgentResult', 'StartAgentOptions', 'ResolvedTool']],
  ['Channels', ['ChannelProvider', 'PersonLimits', 'Recipient', 'IncomingMessage', 'IncomingFile', 'RequestAnswer']],
  [
    'Messages of channels',
    ['OutgoingMessage', 'OutgoingFile', 'MessagePiece', 'ChannelRequest', 'ClosedRequest', 'TurnProgress', 'ProgressTask'],
  ],
  ['Conversations and addresses of channels', ['Conversations', 'ConversationAddress', 'OpenConversation', 'HttpRoutes']],
  ['Services and schedules', ['ServiceProvider', 'SchedulerProvider', 'Schedule', 'ScheduledResult', 'Schedules', 'ScheduledTask']],
  ['Context of requests', ['ContextProvider', 'ContextRequest', 'ProvidedContext']],
  ['Setup', ['SetupProvider', 'SetupField']],
  ['Events', ['BusEvent', 'PublishOptions']],
  [
    'The context of an extension',
    ['ExtensionContext', 'ExtensionLogger', 'TerminalPort', 'ExtensionAdmin', 'ExtensionStatus', 'ExtensionProblem'],
  ],
]

/** Everything that `troupe/extension` exports is on the page. */
function checkGroups(): void {
  const exported = readFileSync(join(root, 'src/extension.ts'), 'utf8').match(/^ {2}\w+/gm) ?? []
  const shown = ['Json', 'JsonObject', 'JsonSchema', ...groups.flatMap(([, names]) => names)]
  const missing = exported.map((name) => name.trim()).filter((name) => !shown.includes(name))
  if (missing.length > 0) throw new Error(`The page of types lacks ${missing.join(', ')}.`)
}

/** Variables of the template of `agent.instructions`: see `readManifest`. */
export const manifestVariables: { readonly [name: string]: string } = {
  id: 'the id of the extension',
  name: 'its name',
  config: '`config` of the manifest, such as `config.city`',
}

export const manifestVariableTable = (): string =>
  table(
    ['name', 'meaning'],
    Object.entries(manifestVariables).map(([name, meaning]) => [code(name), meaning]),
  )

export function extensionTypesPage(): string {
  checkGroups()
  return page([
    [
      '# Types of extensions',
      made,
      "What classes of extensions implement, get and return. `import type { … } from 'troupe/extension'`; [Extensions](../extensions.md) has examples.",
    ],
    ...groups.map(([title, names]) => [`## ${title}`, ['```ts', names.map(declaration).join('\n\n'), '```'].join('\n')]),
  ])
}

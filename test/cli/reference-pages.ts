import { modelFailureClass, toolFailureClass } from '../../scripts/schemas/enumerations.ts'
import { lines } from '../../scripts/schemas/events.ts'
import type { Schema } from '../../scripts/schemas/shapes.ts'
import { typeText } from '../../src/cli/arguments/agent-file-help.ts'
import { type CommandSpec, commands, commonFlags, type FlagSpec, usageOf } from '../../src/cli/arguments/command-specs.ts'
import type { RunEnd } from '../../src/cli/commands/output/run-documents.ts'
import { exitCodeOf, exitCodeOfError, exitCodes } from '../../src/cli/terminal/exit-codes.ts'
import { type ErrorCode, errorTable, type ModelFailureClass, type StreamEvent, type TurnReason } from '../../src/contracts/index.ts'
import { turnEndTexts } from '../../src/policy/limit-texts.ts'
import { type AgentOption, agentOptionKeys, agentOptions } from '../../src/project/index.ts'
import { code, made, page, table } from './markdown.ts'
import { configurationPage, variablesPage } from './reference-configuration.ts'
import { extensionTypesPage } from './reference-extensions.ts'
import { foreignPage } from './reference-foreign.ts'
import { hooksPage } from './reference-hooks.ts'
import { scriptsPage, templatesPage } from './reference-texts.ts'
import { toolsPage } from './reference-tools.ts'

/** What each event means. Does not compile unless it lists every type. */
const eventTexts: { readonly [Type in StreamEvent['type'] | RunEnd['type']]: string } = {
  'interaction.session.created': 'A session starts: the root, or a child, whose `parent` names the call that started it.',
  'interaction.session.configured':
    'A resume changed models, limits or parameters of the root; `agent` is the new definition. Or a child got prices because of a later cost limit.',
  'interaction.session.resumed': 'Another process continues the session.',
  'interaction.session.idle': 'The session has nothing to do until the next input.',
  'interaction.input.accepted': 'A message was added to the session.',
  'interaction.held.sent': 'Messages that an interrupt held begin turns again. A further message has the same effect.',
  'interaction.history.added': 'Earlier messages of a client that keeps its own history, before the first turn.',
  'interaction.turn.started': 'A turn starts: everything between an input and its answer.',
  'interaction.turn.completed': 'The turn has an answer, complete or partial.',
  'interaction.turn.failed': 'The turn has no answer; the event has the reason.',
  'interaction.turn.interrupted': 'The turn was interrupted.',
  'interaction.turn.suspended': 'The turn waits for a person.',
  'interaction.step.started': 'A model request starts; one event for each attempt.',
  'interaction.step.completed': 'The model has replied.',
  'interaction.step.failed': 'The attempt failed.',
  'interaction.item.started': 'The intent of a call: from here on it may have run. Or a text of the model starts.',
  'interaction.item.updated': 'A call is retried, or the plan has changed.',
  'interaction.item.completed': 'The result of the call, or the complete text.',
  'interaction.item.delta': 'Live: a part of a text or of reasoning, or the progress of a call. Not in the journal, no `seq`.',
  'interaction.queue.joined':
    'Live: a call (`itemId`) or a model request waits for a named queue, since the given time. Sent again if it then waits for another queue.',
  'interaction.queue.left': 'Live: the wait has ended, because it may continue or was interrupted.',
  'interaction.approval.requested': 'A call needs approval.',
  'interaction.approval.resolved': 'The request was answered.',
  'interaction.approval.granted': 'A session grant of a child, recorded for the root. It applies to the whole session.',
  'interaction.approval.revoked': 'Session grants were revoked.',
  'interaction.subagent.selected': 'The agent that answers was selected; the event has the reason.',
  'interaction.subagent.started': 'An event of the parent: the call has started a child.',
  'interaction.subagent.completed': 'The child has answered; with its usage, including its own children.',
  'interaction.subagent.failed': 'The child has failed or was stopped.',
  'interaction.subagent.closed': 'A spawned child takes no further input.',
  'interaction.handoff.started': 'A child talks to the person from now on: messages to the session go to it.',
  'interaction.handoff.completed': 'The child no longer talks to the person; with the reason.',
  'interaction.offer.recorded': 'Tools and their instructions as models get them, once for each hash. `offer` of a step names the hash.',
  'interaction.hook.completed': 'A hook has changed, blocked or added something, sent the model back, or failed.',
  'interaction.context.added': 'A text from outside, such as `AGENTS.md` or the output of a hook, was added to the requests.',
  'interaction.context.compacted': 'The history was shortened; the task, the plan and the list of changes stay.',
  'interaction.cancel.requested': 'An early end was requested.',
  'interaction.diagnostic': 'A message with a code that did not end the turn.',
  'run.completed': 'The last line of `--stream-json` if there is an answer. Not in the journal.',
  'run.failed': 'The last line of `--stream-json` if there is none. Not in the journal.',
}

/** Fields of every durable event are described once. */
const everywhere = ['seq', 'treeId', 'sessionId', 'agentPath', 'turnId', 'stepId', 'itemId', 'at', 'inbox', 'type']

function fieldsOf(type: string): string {
  const schema = lines[type] as { readonly properties?: object; readonly anyOf?: readonly { readonly properties: object }[] }
  const fields = [
    ...new Set((schema.anyOf ?? [{ properties: schema.properties ?? {} }]).flatMap(({ properties }) => Object.keys(properties))),
  ]
  return fields
    .filter((field) => !everywhere.includes(field))
    .map(code)
    .join(', ')
}

/** The values of an enumeration in the schemas. */
const wordsOf = (schema: Schema): readonly string[] => (schema as { readonly enum: readonly string[] }).enum

/** The pages of docs/reference/, by file. */
export const referencePages: { readonly [file: string]: string } = {
  'configuration.md': configurationPage,
  'variables.md': variablesPage,
  'scripts.md': scriptsPage,
  'templates.md': templatesPage,
  'extension-types.md': extensionTypesPage(),
  'tools.md': toolsPage,
  'hooks.md': hooksPage,
  'foreign-agents.md': foreignPage,
  'command-line.md': page([
    ['# Command line', made],
    [
      '`troupe COMMAND [arguments] [options]`, or `troupe FILE.ai [PROMPT] [options]`. `troupe` alone prints the help on standard error, with exit code 2; `troupe --help` prints it on standard output, with exit code 0.',
    ],
    ...commands.map((command) => commandSection(command)),
    ['## For every command', flagTable(commonFlags)],
    [
      '## Exit codes',
      table(
        ['code', 'meaning'],
        Object.values(exitCodes).map(({ code, summary }) => [String(code), summary]),
      ),
    ],
    [
      '## For programs',
      'With `--json`, every command prints one document, even on failure. `ok` is true if the exit code is 0. If it is false, the document has `error`, the same for all commands: `code` (a code of [Errors](errors.md), or the reason why a turn ended), `message`, `remedy` and `problems` with their places. It is `CommandError` in the schemas.',
      '`troupe run --json` prints `schemas/run-document.schema.json`. `denials` has the calls that were not allowed. `summary` has the usage of each agent with its models, tools and children.',
      '`troupe sessions show ID --json` prints one document: `schemas/session.schema.json`. It has the `outcome` of a session that has ended or is suspended, as `run --json` printed it, and `soFar` for any other. Its exit code is 0, whatever the outcome.',
      '`--stream-json` prints one document a line: `schemas/stream-event.schema.json`. Durable events have a `seq` without gaps; live ones (`interaction.item.delta`) have none. The last line is `run.completed` if there is an answer, else `run.failed`. It has the exit code and the outcome, or the error if the run could not start.',
      '`--log-format json` prints standard error as one JSON document a line, with `time`, `level` and `msg`. Lines of a child have a `source` such as `child:researcher`; text lines start with the same.',
    ],
  ]),
  'events.md': page([
    ['# Events', made],
    [
      'A run is a stream of events. Durable events form the journal: their `seq` has no gaps over the whole session, and folding them gives the same state. Live events are provisional and have no `seq`. JSON Schema: `schemas/stream-event.schema.json`.',
      'Every durable event has `seq`, `sessionId`, `treeId`, `agentPath` (`root`, `root/researcher#2`) and `at` (milliseconds since 1970); inside a turn also `turnId`, and `stepId` and `itemId` if they apply; `inbox` if it takes in a message.',
      '`sessionId` is the session of the event: a child has its own. `treeId` is the id of the root session, as used by `--resume`, `troupe sessions` and `runtime.open`. In events of the root, both are equal.',
    ],
    [
      table(
        ['type', 'meaning', 'own fields'],
        Object.entries(eventTexts).map(([type, text]) => [code(type), text, fieldsOf(type)]),
      ),
    ],
  ]),
  'errors.md': page([
    ['# Errors', made],
    [
      'A run never throws: it has an outcome, and expected failures are part of it. `TroupeError` is thrown for misuse, wrong configuration and broken invariants. It has a code from this table and lists every problem with its place and a remedy. A command that is interrupted before it has an outcome reports `interrupted`, with exit code 130. See also [Troubleshooting](../troubleshooting.md).',
    ],
    [
      '## Codes',
      table(
        ['code', 'meaning', 'retry can help', 'exit code'],
        Object.entries(errorTable).map(([name, { summary, retry }]) => [
          code(name),
          summary,
          retry ? 'yes' : 'no',
          String(exitCodeOfError({ code: name as ErrorCode })),
        ]),
      ),
    ],
    [
      '## Why a turn did not complete',
      'The exit code applies to failed turns, and to partial answers because of a limit. If a model failed, its class decides.',
      table(
        ['reason', 'meaning', 'exit code'],
        Object.entries(turnEndTexts).map(([reason, { status }]) => [
          code(reason),
          status,
          String(exitCodeOf({ status: 'failed', reason: reason as TurnReason })),
        ]),
      ),
    ],
    [
      '## Why a model failed',
      table(
        ['class', 'exit code'],
        wordsOf(modelFailureClass).map((kind) => [
          code(kind),
          String(exitCodeOf({ status: 'failed', reason: 'model', failure: { class: kind as ModelFailureClass, message: '' } })),
        ]),
      ),
    ],
    ['## Why a call failed', `Classes that models and people see: ${wordsOf(toolFailureClass).map(code).join(', ')}.`],
  ]),
  'agent-file.md': page([
    ['# Agent file', made],
    [
      'An agent file has an optional `#!/usr/bin/env troupe` line, settings in YAML between two lines of `---`, then the prompt. Unknown keys are errors. `troupe run --override key=value` changes any key of this table for one run. For `output` and `input`, name a key inside them (`--override output.format=json`); the other keys of that group in the file are then ignored.',
      'Durations are written `500ms`, `30s`, `10m` or `2h`, sizes `512B`, `64KB` or `1MB`; bare numbers are milliseconds and bytes.',
      'Settings can also come from flags, [variables](variables.md) or the [configuration](configuration.md). The prompt can be a [template](templates.md), and a model can be a [script](scripts.md).',
    ],
    [
      table(
        ['key', 'meaning', 'value', 'default', 'example'],
        agentOptionKeys.map((key) => {
          const option: AgentOption = agentOptions[key]
          const isRequired = option.default === 'required'
          const flag = option.flag ? ` (${code(`--${option.flag.name}`)})` : ''
          return [
            code(key),
            `${option.summary}${flag}`,
            typeText(option.type),
            isRequired ? '**required**' : option.default,
            code(option.example),
          ]
        }),
      ),
    ],
  ]),
}

function commandSection(command: CommandSpec): readonly string[] {
  return [
    `## ${command.name}`,
    `${capital(command.summary)}: \`${usageOf(command)}\``,
    ...(command.arguments.length > 0
      ? [
          table(
            ['argument', 'meaning'],
            command.arguments.map(({ name, summary }) => [code(name), summary]),
          ),
        ]
      : []),
    ...command.groups.flatMap(({ title, flags }) => [`### ${capital(command.name)}: ${title.toLowerCase()}`, flagTable(flags)]),
    ...(command.notes.length > 0 ? [command.notes.map((note) => `- ${note}`).join('\n')] : []),
    ['```sh', ...command.examples.flatMap(({ line, summary }) => [`# ${summary}`, line]), '```'].join('\n'),
  ]
}

function flagTable(flags: readonly FlagSpec[]): string {
  return table(
    ['flag', 'meaning', 'not with'],
    flags.map(({ name, short, value, summary, repeatable, excludes = [] }) => {
      const long = `--${name}${value === undefined ? '' : ` ${value}`}`
      const several = repeatable ? ' (repeatable)' : ''
      return [
        [...(short === undefined ? [] : [code(`-${short}`)]), code(long)].join(', '),
        `${summary}${several}`,
        excludes.map((other) => code(`--${other}`)).join(', '),
      ]
    }),
  )
}

function capital(text: string): string {
  return `${text[0]?.toUpperCase()}${text.slice(1)}`
}

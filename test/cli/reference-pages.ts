import { type AgentOption, agentOptionKeys, agentOptions } from '../../src/agents/index.ts'
import { exitCodeOf, exitCodeOfError, exitCodes } from '../../src/cli/host/exit-codes.ts'
import { type CommandSpec, commands, commonFlags, type FlagSpec, usageOf } from '../../src/cli/options/command-specs.ts'
import { typeText } from '../../src/cli/options/option-types.ts'
import type { RunEnd } from '../../src/cli/run/run-documents.ts'
import { lines } from '../../src/cli/schemas/events.ts'
import type { Schema } from '../../src/cli/schemas/shapes.ts'
import { modelFailureClass, toolFailureClass } from '../../src/cli/schemas/words.ts'
import { reasonText } from '../../src/cli/terminal/format-numbers.ts'
import { type ErrorCode, errorTable, type ModelFailureClass, type StreamEvent, type TurnReason } from '../../src/contracts/index.ts'
import { code, made, page, table } from './markdown.ts'
import { configurationPage, variablesPage } from './reference-configuration.ts'
import { foreignPage } from './reference-foreign.ts'
import { hooksPage } from './reference-hooks.ts'
import { scriptsPage, templatesPage } from './reference-texts.ts'
import { toolsPage } from './reference-tools.ts'

/** What each event tells. Does not compile unless it lists every type that there is. */
const eventTexts: { readonly [Type in StreamEvent['type'] | RunEnd['type']]: string } = {
  'interaction.session.created':
    'A session begins: the first of the tree, or that of a child, which names the call that started it in `parent`.',
  'interaction.session.configured':
    'Whoever has taken the tree up has changed models, limits or parameters of its root; `agent` is as it is from here on. Or a child is asked at a price since then.',
  'interaction.session.resumed': 'Another process has taken the tree up.',
  'interaction.session.idle': 'There is nothing more to do until the next input.',
  'interaction.input.accepted': 'What somebody sent has entered the session.',
  'interaction.turn.started': 'A turn begins: everything between an input and its answer.',
  'interaction.turn.completed': 'There is an answer, the whole one or as much as could be had.',
  'interaction.turn.failed': 'There is none, and why.',
  'interaction.turn.interrupted': 'Somebody has ended the turn.',
  'interaction.turn.suspended': 'The turn waits for a person.',
  'interaction.step.started': 'A model is asked; once for each attempt.',
  'interaction.step.completed': 'It has replied.',
  'interaction.step.failed': 'The attempt came to nothing.',
  'interaction.item.started': 'The intent of a call: from here on it may have run. Or a text of the model begins.',
  'interaction.item.updated': 'A call is tried once more, or the plan has changed.',
  'interaction.item.completed': 'How the call ended, or the whole text.',
  'interaction.item.delta': 'Live: a piece of text, of reasoning, or the progress of a call. In no journal, without `seq`.',
  'interaction.queue.joined':
    'Live: a call (`itemId`), or a session that is about to ask its model, waits for a named queue, since then; once more where it comes to wait for another one.',
  'interaction.queue.left': 'Live: it waits no longer. It may go on, or was interrupted; what follows tells.',
  'interaction.approval.requested': 'A call needs a person to approve it.',
  'interaction.approval.resolved': 'Somebody has decided.',
  'interaction.approval.granted': 'A child was granted something for the session: said of the root, and good for all.',
  'interaction.approval.revoked': 'Grants for the session were taken back.',
  'interaction.subagent.selected': 'The agent that speaks was chosen, and why.',
  'interaction.subagent.started': 'In the journal of the parent: the call has started a child.',
  'interaction.subagent.completed': 'The child has reported; what it took, its own children included.',
  'interaction.subagent.failed': 'The child has failed or was ended.',
  'interaction.hook.completed': 'A hook has changed, blocked or added something, sent the model back to work, or has failed.',
  'interaction.context.added': 'A text from outside, such as a file of the project or what a hook says, has entered the requests.',
  'interaction.context.compacted': 'The history was made shorter; what was asked, the plan and what was done stay.',
  'interaction.cancel.requested': 'Somebody has asked for an early end.',
  'interaction.diagnostic': 'Something worth telling that did not end the turn.',
  'run.completed': 'The last line of `--stream-json` where there is an answer. No event of the journal.',
  'run.failed': 'The last line of `--stream-json` where there is none. No event of the journal.',
}

/** Fields that every durable event has are told once. */
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

/** What an enumeration of the schemas lists. */
const wordsOf = (schema: Schema): readonly string[] => (schema as { readonly enum: readonly string[] }).enum

/** The pages of docs/reference/, by file. */
export const referencePages: { readonly [file: string]: string } = {
  'configuration.md': configurationPage,
  'variables.md': variablesPage,
  'scripts.md': scriptsPage,
  'templates.md': templatesPage,
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
      '`--json` prints one document, whatever happens: `schemas/run-document.schema.json`. `ok` tells whether the exit code is 0; `summary` who did how much: each agent with its models, its tools and the agents that it called.',
      '`troupe sessions show ID --json` prints one, too: `schemas/session.schema.json`. It has the `outcome` of a session that has ended or waits, as `run --json` gave it, and `soFar` of any other; its own exit code is 0 however the session went.',
      '`--stream-json` prints one document a line: `schemas/stream-event.schema.json`. Durable events have a `seq` without gaps; live ones (`interaction.item.delta`) have none. The last line is `run.completed` where there is an answer, else `run.failed`; it has the exit code and the outcome, or the error where nothing could be started.',
      '`--log-format json` turns everything on standard error into one JSON document a line, with `time`, `level` and `msg`; what a child does has `source`, as in `child:researcher`. Lines for people begin with the same.',
    ],
  ]),
  'events.md': page([
    ['# Events', made],
    [
      'A run is a stream of events. Durable ones are the journal: `seq` is gap-free over the whole tree, and whoever folds them anew gets the same run. Live ones are provisional and have no `seq`. As JSON Schema: `schemas/stream-event.schema.json`.',
      'Every durable event has `seq`, `sessionId`, `treeId`, `agentPath` (`root`, `root/researcher#2`) and `at` (milliseconds since 1970); inside a turn also `turnId`, and `stepId` and `itemId` where they apply; `inbox` where it takes a message in.',
      '`sessionId` is the session that the event belongs to: a child has its own. `treeId` is the id of the root session, which `--resume`, `troupe sessions` and `runtime.open` take; in events of the root both are the same.',
    ],
    [
      table(
        ['type', 'what it tells', 'its own fields'],
        Object.entries(eventTexts).map(([type, told]) => [code(type), told, fieldsOf(type)]),
      ),
    ],
  ]),
  'errors.md': page([
    ['# Errors', made],
    [
      'Expected failures are data: a run always has an outcome, and never throws. What is thrown (`TroupeError`) is misuse, configuration or a broken invariant; it has a code of this table, says whether doing the same again can help, and lists every problem with its place and a remedy. A command that is interrupted before it has an outcome tells so in its document as `interrupted`, with exit code 130.',
    ],
    [
      '## Codes',
      table(
        ['code', 'meaning', 'a retry can help', 'exit code'],
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
      'The exit code is that of a turn that failed; a partial answer that ran out of something has the same. Where a model failed, its class decides.',
      table(
        ['reason', 'meaning', 'exit code'],
        Object.entries(reasonText).map(([reason, told]) => [
          code(reason),
          told,
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
    ['## Why a call failed', `To the model that made the call and to people: ${wordsOf(toolFailureClass).map(code).join(', ')}.`],
  ]),
  'agent-file.md': page([
    ['# Agent file', made],
    [
      'An agent is a file: an optional `#!/usr/bin/env troupe` line, settings in YAML between two lines of `---`, then the prompt. A key that is not listed here is an error. `troupe run` can change every key of this table for one run with `--override key=value`. `output` and `input` are no keys themselves: name one of theirs (`--override output.format=json`); what the file says about the others of the same group does not count then.',
      'Durations are written `500ms`, `30s`, `10m` or `2h`, sizes `512B`, `64KB` or `1MB`; bare numbers are milliseconds and bytes.',
      'What a file does not say may be said by a flag, a [variable](variables.md) or the [configuration](configuration.md). The prompt may be a [template](templates.md); a model may be a [script](scripts.md).',
    ],
    [
      table(
        ['key', 'what', 'value', 'default', 'example'],
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
            ['argument', 'what'],
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
    ['flag', 'what', 'not with'],
    flags.map(({ name, short, value, summary, repeatable, excludes = [] }) => {
      const long = `--${name}${value === undefined ? '' : ` ${value}`}`
      const several = repeatable ? ' (may be repeated)' : ''
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

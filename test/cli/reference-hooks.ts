import { type HookPoint, hookPoints, maxHookOutputChars } from '../../src/contracts/index.ts'
import { hookShape } from '../../src/policy/hook-shape.ts'
import { defaultHookTimeoutMs, maxHookTextLength, verdictForm } from '../../src/steps/approval/ask-hook.ts'
import type { Questions } from '../../src/tools/hooks/hook-answer.ts'
import { exportNames } from '../../src/tools/hooks/module-hook.ts'
import { mostOutputBytes } from '../../src/tools/hooks/run-program.ts'
import { code, made, page, table } from './markdown.ts'

type Kind<P extends HookPoint> = Questions[P]['verdict']['kind']

interface PointPage<P extends HookPoint> {
  readonly asked: string
  readonly question: Questions[P]['view']
  /** The fields of the question. */
  readonly fields: { readonly [Field in keyof Questions[P]['view']]-?: string }
  /** What each answer does. Does not compile unless every answer is listed. */
  readonly answers: { readonly [Each in Kind<P>]: string }
  readonly refusal: string
  readonly closed: string
}

const call = {
  tool: 'the tool name that the model sees: `server/tool` is `server__tool`',
  input: 'the [arguments](tools.md); after a call, those that it ran with',
}
const goOn = 'continue; the same as no answer'

export const points: { readonly [P in HookPoint]: PointPage<P> } = {
  before_call: {
    asked: 'Before rules are checked and a person is asked. The approval is for the arguments that the hooks return.',
    question: { tool: 'shell', input: { command: 'git push' } },
    fields: call,
    answers: {
      continue: goOn,
      change: 'replaces all arguments; they are validated against the schema of the tool',
      block: 'the call does not run; the model gets the reason',
    },
    refusal: 'the call is blocked',
    closed: 'the call is blocked',
  },
  after_call: {
    asked: 'After a call has run, successfully or not, before the model sees its result.',
    question: { tool: 'shell', input: { command: 'npm test' }, output: { ok: true, content: 'exit code 0\n3 passed' } },
    fields: {
      ...call,
      output:
        'the result for the model: `{"ok":true,"content":"…"}`, or `{"ok":false,"error":{"class":"…","message":"…","remedy":"…"},"partial":"…"}`; `"cut":true` if it was shortened. Modules also get the `extras` of the tool',
    },
    answers: { continue: goOn, context: 'the model gets the text after the result of the call' },
    refusal: 'the model gets the reason',
    closed: 'the model gets a notice that the call ran and that its result was not checked',
  },
  before_request: {
    asked: 'Before a model request; once per step, not for each attempt.',
    question: { agent: 'keeper', model: 'openai/gpt-5.4-mini', size: 1234, step: 1 },
    fields: {
      agent: 'the name of the agent',
      model: 'the model of the request',
      size: 'the number of characters in the request',
      step: 'its number in the turn, from 1',
    },
    answers: { continue: goOn, context: 'the text is added to this request and stays in the history' },
    refusal: 'a failure',
    closed: 'the turn fails',
  },
  at_stop: {
    asked: 'When the model has given a complete answer, before the turn ends.',
    question: { agent: 'keeper', text: 'Done.', resumed: 0 },
    fields: {
      agent: 'the name of the agent',
      text: 'the answer',
      resumed: 'how often hooks have sent the model back in this turn; at most three times',
    },
    answers: {
      continue: goOn,
      resume:
        'the model continues and gets the reason; from the fourth time on the answer is `partial`, with the diagnostic `hook_overruled`',
    },
    refusal: 'the model continues and gets the reason',
    closed: 'the turn fails; the text of the model is kept',
  },
}

const keyTexts: { readonly [Key in keyof typeof hookShape.of]: string } = {
  name: 'its name in the journal',
  on: `when it is called: a list of ${hookPoints.map(code).join(', ')}`,
  tools: 'only for calls of these tools; `*` matches any text. Default: all',
  command: 'a program and its arguments, started without a shell in the folder of the configuration',
  module: 'a module, relative to the configuration file',
  onFailure: 'if the hook fails: `closed` stops the call or the turn, `open` continues',
  timeout: `its time limit: \`30s\`, or milliseconds; at most an hour. Default ${defaultHookTimeoutMs / 1000} seconds`,
}

/** The session of the examples. */
export const session = { treeId: 'm1x', sessionId: 'm1x', agentPath: 'root', principal: { id: 'token:ci', kind: 'token' } } as const

/** What a program reads from its standard input. */
export const documentOf = (point: HookPoint): string =>
  JSON.stringify({ version: 1, hook: 'guard', on: point, ...points[point].question, session })

export const kindsAt = (point: HookPoint) => Object.keys(points[point].answers) as readonly Kind<HookPoint>[]

/** Programs that a test runs. */
export const exampleProgram = `#!/usr/bin/env node
import { json } from 'node:stream/consumers'

const { input } = await json(process.stdin)
if (input.command.includes('push')) {
  process.stderr.write('A person publishes.')
  process.exitCode = 2
} else {
  process.stdout.write(JSON.stringify({ kind: 'change', input: { ...input, timeout: 60 }, reason: 'a minute is enough' }))
}
`

export const exampleModule = `export function beforeCall({ input }) {
  if (String(input.command).includes('push')) return { kind: 'block', reason: 'A person publishes.' }
  return { kind: 'change', input: { ...input, timeout: 60 }, reason: 'a minute is enough' }
}

export async function atStop({ text, resumed }) {
  if (text.includes('probably') && resumed === 0) return { kind: 'resume', reason: 'Find out, do not guess.' }
}
`

const fenced = (language: string, text: string): string => ['```', language, '\n', text.trimEnd(), '\n```'].join('')
const counted = (number: number): string => number.toLocaleString('en-GB')

function pointSection(point: HookPoint): readonly string[] {
  const { asked, fields, answers } = points[point]
  return [
    `## ${point}`,
    `${asked} A module exports \`${exportNames[point]}\`.`,
    fenced('json', documentOf(point)),
    table(
      ['field', 'meaning'],
      Object.entries(fields).map(([field, text]) => [code(field), text]),
    ),
    table(
      ['answer', 'effect'],
      kindsAt(point).map((kind) => [code(verdictForm(kind)), (answers as { readonly [kind: string]: string })[kind] ?? '']),
    ),
  ]
}

export const hooksPage = page([
  ['# Hooks', made],
  [
    'A hook is a program or a module that Troupe calls at four points of a turn. It is listed under `hooks` in the [configuration](configuration.md). Hooks of a project need trust. Several hooks run one after the other, each on the result of the previous one. Their answers are in the journal (`interaction.hook.completed`).',
    table(
      ['key', 'meaning', 'required'],
      Object.entries(keyTexts).map(([key, text]) => [
        code(key),
        text,
        (hookShape.required as readonly string[]).includes(key) ? 'yes' : ['command', 'module'].includes(key) ? 'one of the two' : 'no',
      ]),
    ),
  ],
  [
    '## Programs',
    'A program is started for each question. It reads one JSON document from standard input and answers by its exit code and output. `session` says where it happens: `treeId` is the id for `troupe sessions show`, `sessionId` and `agentPath` are those of the agent or child, and `principal` is who opened the session, if known:',
    table(
      ['exit', 'meaning'],
      [
        ['exit code 0, no output', 'continue'],
        ['exit code 0, one JSON object', 'one of the answers below'],
        [
          'exit code 2',
          `refused, with standard error as the reason: ${hookPoints.map((point) => `${code(point)} ${points[point].refusal}`).join('; ')}`,
        ],
        [`anything else, or more than ${counted(mostOutputBytes)} bytes of output`, 'the hook has failed'],
      ],
    ),
    fenced('js', exampleProgram),
  ],
  [
    '## Modules',
    'A module exports a function for each point. The function gets the fields of the question as one object, without `version`, `hook`, `on` and `session`. The second argument has the fields of `session` and a `signal`, which aborts when the answer is no longer needed. It returns an answer or a promise; `undefined` means continue. A module is loaded at the start, in its own thread, with the same variables as programs. Its output is not shown. In a program, `Hook` has the same functions, with `name` and `onFailure`: [Embedding](../embedding.md).',
    fenced('js', exampleModule),
  ],
  ...hookPoints.map(pointSection),
  [
    '## Answers and failures',
    `An answer with an unknown kind, or a key that does not belong to its kind, is a failure. A \`block\` is always accepted. \`reason\` is optional. A text of a hook has at most ${counted(maxHookTextLength)} characters; hooks see at most ${counted(maxHookOutputChars)} characters of a result. Secrets are redacted in both.`,
    'The journal records a hook that fails or exceeds its `timeout`. The effect:',
    table(
      ['point', '`onFailure: closed`', '`onFailure: open`'],
      hookPoints.map((point) => [code(point), points[point].closed, 'as if it had not answered']),
    ),
  ],
])

import { type HookPoint, hookPoints, maxHookOutputChars } from '../../src/contracts/index.ts'
import { hookKeys, requiredHookKeys } from '../../src/policy/check-hook.ts'
import { defaultHookTimeoutMs, maxHookTextLength, verdictForm } from '../../src/steps/approval/ask-hook.ts'
import { exportNames } from '../../src/tools/hooks/module-hook.ts'
import type { Questions } from '../../src/tools/hooks/questions.ts'
import { mostOutputBytes } from '../../src/tools/hooks/run-program.ts'
import { code, made, page, table } from './markdown.ts'

type Kind<P extends HookPoint> = Questions[P]['verdict']['kind']

interface PointPage<P extends HookPoint> {
  readonly asked: string
  readonly question: Questions[P]['view']
  /** What the fields of the question are. */
  readonly fields: { readonly [Field in keyof Questions[P]['view']]-?: string }
  /** What each answer does. Does not compile unless every one that there is stands here. */
  readonly answers: { readonly [Each in Kind<P>]: string }
  readonly refusal: string
  readonly closed: string
}

const call = {
  tool: 'the tool, as the model knows it: `server/tool` is `server__tool`',
  input: 'the arguments, as [they stand](tools.md); after a call, those that it ran with',
}
const goOn = 'go on; the same as no answer at all'

export const points: { readonly [P in HookPoint]: PointPage<P> } = {
  before_call: {
    asked: 'Before a call is held against the rules and a person is asked: what is approved is what the hooks have left.',
    question: { tool: 'shell', input: { command: 'git push' } },
    fields: call,
    answers: {
      continue: goOn,
      change: 'the call has these arguments instead, all of them; they are held against the schema of the tool',
      block: 'the call does not run; the model is told the reason',
    },
    refusal: 'the call is blocked',
    closed: 'the call is blocked',
  },
  after_call: {
    asked: 'When a call has ended, well or not, before the model sees what came of it. Not where it never ran.',
    question: { tool: 'shell', input: { command: 'npm test' }, output: { ok: true, content: 'exit code 0\n3 passed' } },
    fields: {
      ...call,
      output:
        'what the model will be told: `{"ok":true,"content":"…"}`, or `{"ok":false,"error":{"class":"…","message":"…","remedy":"…"},"partial":"…"}`; `"cut":true` where there is more than is shown. Modules also find `extras` of the tool in it',
    },
    answers: { continue: goOn, context: 'the text is told to the model, below what came of the call' },
    refusal: 'the model is told the reason',
    closed: 'the model is told that nobody has looked at what came of the call, which has happened',
  },
  before_request: {
    asked: 'Before a model is asked; once for each step, not again for a further attempt.',
    question: { agent: 'keeper', model: 'openai/gpt-5.4-mini', size: 1234 },
    fields: { agent: 'the name of the agent', model: 'the model that is about to be asked', size: 'how many characters it will be shown' },
    answers: { continue: goOn, context: 'the text is told to the model with this request, and stays in the history' },
    refusal: 'a failure',
    closed: 'the turn fails',
  },
  at_stop: {
    asked: 'When there is a whole answer, before it is given.',
    question: { agent: 'keeper', text: 'Done.', resumed: 0 },
    fields: {
      agent: 'the name of the agent',
      text: 'the answer',
      resumed: 'how often hooks have already sent the model back in this turn; three times is the most',
    },
    answers: {
      continue: goOn,
      resume:
        'the model goes on, and is told the reason; from the fourth time on the answer is `partial`, with the diagnostic `hook_overruled`',
    },
    refusal: 'the model goes on, and is told the reason',
    closed: 'the turn fails; what the model had said is kept',
  },
}

const keyTexts: { readonly [Key in (typeof hookKeys)[number]]: string } = {
  name: 'what the journal calls it',
  on: `when it is asked: a list of ${hookPoints.map(code).join(', ')}`,
  tools: 'only for calls of these tools; `*` stands for any letters. Default: all',
  command: 'a program and its arguments, started without a shell in the folder of the configuration; or else',
  module: 'a module, relative to the configuration',
  onFailure: '`closed` stops what it was asked about when it fails, `open` lets that go on',
  timeout: `how long it may think: \`30s\`, or milliseconds; at most an hour. Default ${defaultHookTimeoutMs / 1000} seconds`,
}

/** What a program finds on its standard input. */
export const documentOf = (point: HookPoint): string => JSON.stringify({ version: 1, hook: 'guard', on: point, ...points[point].question })

export const kindsAt = (point: HookPoint) => Object.keys(points[point].answers) as readonly Kind<HookPoint>[]

/** Programs that a test runs as they stand here. */
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
      ['field', 'what'],
      Object.entries(fields).map(([field, told]) => [code(field), told]),
    ),
    table(
      ['answer', 'what it does'],
      kindsAt(point).map((kind) => [code(verdictForm(kind)), (answers as { readonly [kind: string]: string })[kind] ?? '']),
    ),
  ]
}

export const hooksPage = page([
  ['# Hooks', made],
  [
    'A hook is a program or a module that is asked at four points of a turn. It stands under `hooks` in the [configuration](configuration.md); one of a project counts once a person has trusted it. Several are asked one after the other, each about what the one before has left. What they say is in the journal (`interaction.hook.completed`).',
    table(
      ['key', 'what', 'required'],
      hookKeys.map((key) => [
        code(key),
        keyTexts[key],
        (requiredHookKeys as readonly string[]).includes(key) ? 'yes' : ['command', 'module'].includes(key) ? 'one of the two' : 'no',
      ]),
    ),
  ],
  [
    '## Programs',
    'A program is started anew for each question, finds one JSON document on its standard input, and answers by how it ends:',
    table(
      ['end', 'meaning'],
      [
        ['exit code 0, nothing printed', 'go on'],
        ['exit code 0, one JSON object printed', 'an answer of those below'],
        [
          'exit code 2',
          `no, and standard error is the reason: ${hookPoints.map((point) => `${code(point)} ${points[point].refusal}`).join('; ')}`,
        ],
        [`anything else, or more than ${counted(mostOutputBytes)} bytes printed`, 'it has failed'],
      ],
    ),
    fenced('js', exampleProgram),
  ],
  [
    '## Modules',
    'A module exports a function for each point that it is asked at. The function gets the fields of the question as one object, without `version`, `hook` and `on`, then `{ signal }`, which fires when nobody waits for the answer any more; it returns an answer or a promise of one. `undefined` means go on. It is loaded at the start, in a thread of its own, with the variables that programs get too; questions and answers are JSON, and what it prints is not shown. In a program that embeds the runtime, `Hook` is the same with `name` and `onFailure` beside the functions: [Embedding](../embedding.md).',
    fenced('js', exampleModule),
  ],
  ...hookPoints.map(pointSection),
  [
    '## Answers and failures',
    `An answer of another kind, or with a key that does not belong to its kind, is a failure, and the message says what was expected. Only a \`block\` counts whatever else stands in it. The \`reason\` of a \`change\` may be left out; without one a \`block\` or a \`resume\` says that none was given. Of a text that a hook says, ${counted(maxHookTextLength)} characters are told; of what a call gave, hooks are shown ${counted(maxHookOutputChars)}. Secrets are taken out of both.`,
    'A hook that fails, or thinks for longer than its `timeout`, is told in the journal. What it means:',
    table(
      ['point', '`onFailure: closed`', '`onFailure: open`'],
      hookPoints.map((point) => [code(point), points[point].closed, 'as if it had said nothing']),
    ),
  ],
])

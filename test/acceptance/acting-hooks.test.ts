import { existsSync, writeFileSync } from 'node:fs'
import { describe, expect, test, vi } from 'vitest'
import type { Hook, InteractionEvent, Outcome } from '../../src/index.ts'
import { type HookDefinition, type HookPoint, hooksFrom } from '../../src/tools.ts'
import { type Actor, actor, agentFiles, alive, ground, mark, realClock, told, troupe, yes } from './acting-support.ts'
import { documentOf } from './command.ts'
import { bounded, expectLegal, journalOf, ofType, requestText, troupeError, until } from './support.ts'

vi.setConfig({ testTimeout: 60_000 })

const environment = { PATH: process.env.PATH ?? '' }
type Mode = 'closed' | 'open'
/** Who answers has as long as it takes; who never does need not be waited for. */
const patience = (body: string): string => (body.startsWith('exec sleep') ? '300ms' : body.includes('sleep') ? '3s' : '50s')

/** One program, asked at one point of a run that writes a file and answers. */
async function hooked(on: HookPoint, onFailure: Mode, body: string) {
  const place = ground({ 'hook.sh': `#!/bin/sh\n${body}\n` })
  const definition = { name: 'guard', on: [on], command: ['./hook.sh'], onFailure, timeout: patience(body) } as HookDefinition
  const hooks: readonly Hook[] = await hooksFrom([definition], { baseDir: place.workspace, environment, clock: realClock })
  const made = actor({
    ground: place,
    hooks,
    decide: () => yes(),
    steps: [
      { calls: [{ tool: 'write_file', input: { path: 'note.txt', content: 'x' } }] },
      { text: 'Done.' },
      { text: 'Again.' },
      { text: 'Once more.' },
    ],
  })
  const outcome = await bounded(made.runtime.run('go'), 'the run', 50_000)
  const events = await journalOf(made.store, outcome.sessionId)
  expectLegal(events)
  return { made, outcome, events, isWritten: existsSync(made.at('note.txt')) }
}
type Hooked = { readonly made: Actor; readonly outcome: Outcome; readonly events: readonly InteractionEvent[]; readonly isWritten: boolean }
const verdicts = ({ events }: Hooked) => ofType(events, 'interaction.hook.completed').map(({ verdict }) => verdict)

const faults: readonly (readonly [string, string])[] = [
  ['crashes', 'kill -SEGV $$'],
  ['ends with a code that means nothing', 'exit 3'],
  ['never answers', `exec sleep ${mark()}`],
  ['prints garbage', 'echo "}{ maybe"'],
  ['prints a verdict of another point', `echo '{"kind":"resumed-by-nobody","reason":"r"}'`],
  ['prints without end', 'exec yes'],
]

describe('a hook that fails', () => {
  describe.each(faults)('because it %s', (_, body) => {
    const fails = (on: HookPoint, mode: Mode) => hooked(on, mode, body)

    test('before a call: closed blocks it and informs the model, open lets it run, and both are recorded', async () => {
      const [closed, open] = await Promise.all([fails('before_call', 'closed'), fails('before_call', 'open')])
      expect([closed.isWritten, closed.outcome.status, verdicts(closed)]).toEqual([false, 'completed', ['failed']])
      expect(told(closed.made)[0]).toMatchObject({ ok: false, content: expect.stringContaining('guard') })
      expect([open.isWritten, open.outcome.status, verdicts(open)]).toEqual([true, 'completed', ['failed']])
      expect(told(open.made)[0]?.ok).toBe(true)
    })

    test('after a call: its effect stays and is recorded; closed informs the model not to rely on it', async () => {
      const [closed, open] = await Promise.all([fails('after_call', 'closed'), fails('after_call', 'open')])
      for (const each of [closed, open])
        expect([each.isWritten, each.outcome.status, verdicts(each)]).toEqual([true, 'completed', ['failed']])
      expect(requestText(closed.made.model.requests[1])).toContain('guard')
      expect(requestText(open.made.model.requests[1])).not.toContain('guard')
    })

    test('before a request: closed asks no model at all, open continues', async () => {
      const [closed, open] = await Promise.all([fails('before_request', 'closed'), fails('before_request', 'open')])
      expect([closed.outcome.status, closed.made.model.requests.length, closed.isWritten]).toEqual(['failed', 0, false])
      expect(closed.outcome.message).toContain('guard')
      expect([open.outcome.status, open.isWritten]).toEqual(['completed', true])
    })

    test('at the end: closed fails the turn and keeps the text, open accepts the answer', async () => {
      const [closed, open] = await Promise.all([fails('at_stop', 'closed'), fails('at_stop', 'open')])
      expect([closed.outcome.status, closed.outcome.report?.text]).toEqual(['failed', 'Done.'])
      expect([open.outcome.status, open.outcome.report?.text]).toEqual(['completed', 'Done.'])
    })
  })

  test('leaves no process behind, whatever it has started', async () => {
    const sleep = mark()
    const found = await hooked('before_call', 'closed', `sleep ${sleep} & (sleep ${sleep} &) ; echo > begun; sleep ${sleep}`)
    expect([existsSync(found.made.at('begun')), verdicts(found)]).toEqual([true, ['failed']])
    await until('nothing is left', () => alive(sleep).length === 0)
  })
})

describe('a hook that works', () => {
  const saying = (verdict: object): string => `cat > /dev/null\nprintf '%s' '${JSON.stringify(verdict)}'`

  test('changes arguments: the person is asked about those, the tool gets those, the journal names the hook', async () => {
    const input = { path: 'note.txt', content: 'by the hook' }
    const { made, events } = await hooked('before_call', 'closed', saying({ kind: 'change', input, reason: 'tidier' }))
    expect(made.asked.map((each) => each.input)).toEqual([input])
    expect(made.read('note.txt')).toBe('by the hook')
    expect(ofType(events, 'interaction.hook.completed')).toMatchObject([{ hook: 'guard', verdict: 'changed', message: 'tidier' }])
  })

  test('cannot lead a call out of the workspace, or past its schema', async () => {
    for (const input of [{ path: '../out.txt', content: 'x' }, { path: 7 }, { path: 'note.txt', content: 'x', mode: '777' }]) {
      const { made, isWritten, outcome } = await hooked('before_call', 'closed', saying({ kind: 'change', input, reason: 'r' }))
      expect([isWritten, outcome.status, told(made)[0]?.ok]).toEqual([false, 'completed', false])
      expect(existsSync(made.at('../out.txt'))).toBe(false)
    }
  })

  test('blocks with its reason, adds context that stays, and sends the model back with a reason, not for ever', async () => {
    const [blocked, added, sent] = await Promise.all([
      hooked('before_call', 'open', 'echo "Not on a Sunday." >&2; exit 2'),
      hooked('before_request', 'open', saying({ kind: 'context', text: 'The house rule is 7.' })),
      hooked('at_stop', 'open', saying({ kind: 'resume', reason: 'Look again.' })),
    ])
    expect([blocked.isWritten, told(blocked.made)[0]?.content]).toEqual([false, expect.stringContaining('Not on a Sunday.')])
    for (const request of added.made.model.requests) expect(requestText(request)).toContain('The house rule is 7.')
    expect(ofType(added.events, 'interaction.context.added').length).toBeGreaterThan(0)
    expect(requestText(sent.made.model.requests.at(-1))).toContain('Look again.')
    // The call, the answer, and twice more; the script has no more to say than that.
    expect([sent.made.model.requests.length, sent.outcome.report?.text]).toEqual([5, 'Once more.'])
  })
})

describe('hooks that cannot be', () => {
  test('are reported together, before anything runs', async () => {
    const place = ground({ 'not-executable.sh': 'exit 0\n', 'broken.mjs': 'export const beforeCall = (', 'empty.mjs': 'export {}' })
    const base = { on: ['before_call'], onFailure: 'closed' } as const
    const definitions = [
      { ...base, name: 'a', command: ['./nowhere.sh'] },
      { ...base, name: 'b', command: ['./not-executable.sh'] },
      { ...base, name: 'c', module: './broken.mjs' },
      { ...base, name: 'd', module: './empty.mjs' },
    ] as readonly HookDefinition[]
    const error = await troupeError(() => hooksFrom(definitions, { baseDir: place.workspace, environment, clock: realClock }))
    expect(error.code).toBe('config_invalid')
    expect(error.problems.map(({ place: at }) => at.replace(/\.\w+(\[0\])?$/, ''))).toEqual([0, 1, 2, 3].map((index) => `hooks[${index}]`))
  })
})

describe('hooks of a project on the command line', () => {
  test('wait for trust, which is in the program, too: one that was changed afterwards fails as declared', async () => {
    const place = ground({
      ...agentFiles('clerk', 'tools: [write_file]', [
        { calls: [{ tool: 'write_file', input: { path: 'note.txt', content: 'x' } }] },
        { text: 'Done.' },
      ]),
      'guard.sh': '#!/bin/sh\nexit 0\n',
      '.ai-agent.json': JSON.stringify({ hooks: [{ name: 'guard', on: ['before_call'], command: ['./guard.sh'], onFailure: 'closed' }] }),
    })
    expect((await troupe(place, ['trust', '.ai-agent.json']).ended).code).toBe(0)
    writeFileSync(place.at('guard.sh'), '#!/bin/sh\ntouch ran-by-somebody-else\nexit 0\n')
    const ended = await troupe(place, ['run', 'clerk.ai', 'Go', '--json', '-q', '--allow', 'write_file']).ended
    expect(existsSync(place.at('ran-by-somebody-else'))).toBe(false)
    // Nobody looks at the call as was wished, so it is not made; or nothing starts at all.
    expect(existsSync(place.at('note.txt'))).toBe(false)
    expect(`${ended.stderr}${JSON.stringify(documentOf(ended))}`).toMatch(/guard/)
  })
})

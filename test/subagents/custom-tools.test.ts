import { describe, expect, it } from 'vitest'
import type { ChildResult, Tool, ToolContext } from '../../src/contracts/index.ts'
import { foldTree } from '../../src/runtime/journal/tree-state.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { gate } from '../../src/testing/index.ts'
import { resultsOf, type Script, team, textOf } from './team.ts'

const task = (text: string) => ({ agent: 'kid', input: [{ type: 'text', text }] as const })
const toolOf = (execute: Tool['execute']): Tool => ({
  name: 'own',
  description: 'Starts children.',
  inputSchema: { type: 'object' },
  execute,
})
const boss: Script = (request, step) => (step === 1 ? { calls: [{ tool: 'own' }] } : { text: resultsOf(request).join() })
const kid: Script = () => ({ text: 'ok', usage: { input: 100, output: 50 } })
const run = (execute: Tool['execute'], script: Script = kid) =>
  team({ boss: { script: boss, agents: ['kid'], tools: ['own'] }, kid: { script } }, { tools: [toolOf(execute)] }).run()
const said = (result: ChildResult) => (result.kind === 'refused' ? result.failure.message : result.status)

describe('a tool that starts children itself', () => {
  it('starts several a call, in parallel and one after the other; the journal stays sound, and what they took is counted', async () => {
    const { outcome, events } = await run(async (_, { startChild }) => {
      const results = await Promise.all([startChild(task('a')), startChild({ ...task('x'), agent: 'nobody' }), startChild(task('c'))])
      return [...results.map(said), said(await startChild(task('d')))].join('; ')
    })
    expect(outcome.report?.text).toBe('completed; boss has no child "nobody".; completed; completed')
    const created = events.filter((event) => event.type === 'interaction.session.created' && event.parent)
    expect(created.map(({ sessionId, agentPath }) => [sessionId.replace(/^[^/]+/, ''), agentPath])).toEqual([
      ['/t1.s1.1', 'root/kid#1'],
      ['/t1.s1.1~2', 'root/kid#2'],
      ['/t1.s1.1~3', 'root/kid#3'],
    ])
    expect(foldTree(events).children.size).toBe(3)
    expect(outcome.usage.input).toBeGreaterThanOrEqual(300)
    expect(outcome.accounting.filter(({ agentPath }) => agentPath.startsWith('root/kid'))).toHaveLength(3)
  })

  it('finds each of them again when it is repeated after a crash', async () => {
    const asked: string[] = []
    const store = memoryStore()
    const started = gate()
    const script: Script = async (request) => {
      const text = textOf(request)
      asked.push(text)
      if (text === 'b' && asked.filter((each) => each === 'b').length === 1) {
        started.open()
        await new Promise<never>(() => {})
      }
      return { text: `did ${text}` }
    }
    const own: Tool = {
      ...toolOf(async (_, { startChild }) => {
        const first = await startChild(task('a'))
        const both = await Promise.all([startChild(task('b')), startChild(task('c'))])
        return [first, ...both].map((each) => (each.kind === 'ended' ? each.report?.text : each.failure.message)).join('; ')
      }),
      effect: 'idempotent',
    }
    const members = { boss: { script: boss, agents: ['kid'], tools: ['own'] }, kid: { script } }
    const before = team(members, { tools: [own], store })
    const handle = before.runtime.stream('Go')
    await started.promise
    await before.runtime.close()
    const { runtime } = team(members, { tools: [own], store })
    const outcome = await (await runtime.open(handle.sessionId)).outcome
    expect(outcome.report?.text).toBe('did a; did b; did c')
    expect(asked.filter((text) => text === 'a')).toHaveLength(1)
    expect(asked.filter((text) => text === 'b')).toHaveLength(2)
  })

  it('interrupts one child by its signal, and adds instructions and an output format to another', async () => {
    const working = gate()
    const { outcome } = await run(
      async (_, { startChild }) => {
        const controller = new AbortController()
        const stopped = startChild(task('hang'), controller.signal)
        const other = startChild({ ...task('b'), instructions: 'Be brief.', output: { format: 'json', schema: { type: 'object' } } })
        await working.promise
        controller.abort()
        const [one, two] = await Promise.all([stopped, other])
        const wrong = await startChild({ ...task('c'), output: { format: 'xml' } as never })
        return [said(one), two.kind === 'ended' && JSON.stringify(two.report), said(wrong)].join('; ')
      },
      async (request) => {
        if (textOf(request) === 'hang') {
          working.open()
          await new Promise<never>(() => {})
        }
        return { text: JSON.stringify({ prompt: request.system.includes('You are kid.\n\nBe brief.') }) }
      },
    )
    expect(outcome.report?.text).toMatch(
      /^interrupted; \{"format":"json","text":".*","value":\{"prompt":true\}\}; startChild\.output: expected .*\.$/,
    )
  })

  it.each(['at once', 'later'])('and answers %s without waiting ends it first', async (when) => {
    const { outcome, events } = await run(
      (_, { startChild }) => {
        void startChild(task('a'))
        return when === 'at once' ? 'gone on' : Promise.resolve().then(() => 'gone on')
      },
      () => new Promise<never>(() => {}),
    )
    expect(outcome).toMatchObject({ status: 'completed', report: { text: 'gone on' } })
    const ended = events.findIndex((event) => event.type === 'interaction.turn.interrupted')
    const recorded = events.findIndex((event) => event.type === 'interaction.item.completed' && event.item.kind === 'call')
    // One that was not even begun is not begun any more.
    const isBegun = events.some((event) => event.type === 'interaction.session.created' && event.parent)
    expect(isBegun).toBe(when === 'later')
    expect(ended > 0).toBe(isBegun)
    expect(recorded).toBeGreaterThan(ended)
  })

  it('cannot start one once its call has ended', async () => {
    let kept: ToolContext | undefined
    const { outcome, events } = await run((_, context) => {
      kept = context
      return 'done'
    })
    expect(outcome.status).toBe('completed')
    expect(said((await kept?.startChild(task('late'))) ?? { kind: 'refused', failure: { class: 'failed', message: 'nothing' } })).toMatch(
      /already ended/,
    )
    expect(events.filter(({ type }) => type === 'interaction.session.created')).toHaveLength(1)
  })
})

describe('a task that makes no sense', () => {
  const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
  const text = (given: unknown) => ({ type: 'text', text: given })
  const cyclic: { self?: unknown } = {}
  cyclic.self = cyclic
  it.for([
    [undefined, 'invalid_input', 'startChild: expected a task, found nothing.', /agent, input/],
    ['kid', 'invalid_input', 'startChild: expected a task, found "kid".', /agent, input/],
    [
      { agent: 7, input: [text('x')] },
      'invalid_input',
      'startChild.agent: expected the name of a child, found 7.',
      /Available: kid, weather\./,
    ],
    [{ agent: 'kit', input: [text('x')] }, 'config', 'boss has no child "kit".', /Did you mean "kid"\? Available: kid, weather\./],
    [{ agent: 'boss', input: [text('x')] }, 'config', 'boss has no child "boss".', /Available: kid, weather\./],
    [{ agent: 'kid' }, 'invalid_input', 'startChild.input: expected a list of parts for kid, found nothing.', /type: "text"/],
    [{ agent: 'kid', input: 'Go' }, 'invalid_input', 'startChild.input: expected a list of parts for kid, found "Go".', /type: "text"/],
    [{ agent: 'kid', input: [] }, 'invalid_input', 'startChild.input: expected a list of parts for kid, found [].', /type: "text"/],
    [
      { agent: 'kid', input: [text(' \n')] },
      'invalid_input',
      'startChild.input: expected a task for kid, found an empty text.',
      /Describe the task/,
    ],
    [
      { agent: 'kid', input: [text('x'), { type: 'audio', data: '' }] },
      'invalid_input',
      'startChild.input[1]: expected a part of type text, image or file in plain JSON, found {"type":"audio","data":""}.',
      /type: "text"/,
    ],
    [
      { agent: 'kid', input: [text(7)] },
      'invalid_input',
      'startChild.input[0]: expected a part of type text, image or file',
      /type: "text"/,
    ],
    [
      { agent: 'kid', input: [null] },
      'invalid_input',
      'startChild.input[0]: expected a part of type text, image or file in plain JSON, found null.',
      /./,
    ],
    [{ agent: 'kid', input: [cyclic] }, 'invalid_input', 'startChild.input[0]: expected a part of type text, image or file', /./],
    [
      { agent: 'kid', input: [{ ...text('x'), metadata: cyclic }] },
      'invalid_input',
      'startChild.input[0]: expected a part of type text, image or file in plain JSON',
      /./,
    ],
    [
      { agent: 'weather', input: [text('Oslo')] },
      'invalid_input',
      'startChild.input[0].text: expected the JSON input of weather',
      /schema/,
    ],
    [
      { agent: 'weather', input: [text('{"city":{}}')] },
      'invalid_input',
      'startChild.input[0].text: the input of weather does not match its schema',
      /one text part/,
    ],
    [
      { agent: 'weather', input: [text('{}'), text('{}')] },
      'invalid_input',
      'startChild.input: expected one text part with the JSON input of weather',
      /one text part/,
    ],
  ] as const)('is refused: %j', async ([wrong, kind, message, remedy]) => {
    let result: ChildResult | undefined
    const { outcome, events } = await team(
      {
        boss: { script: boss, agents: ['kid', 'weather'], tools: ['own'] },
        kid: { script: kid },
        weather: { script: kid, input: { format: 'json', schema } },
      },
      {
        tools: [
          toolOf(async (_, { startChild }) => {
            result = await startChild(wrong as never)
            return said(result)
          }),
        ],
      },
    ).run()
    expect(result).toEqual({
      kind: 'refused',
      failure: { class: kind, message: expect.stringContaining(message), remedy: expect.stringMatching(remedy) },
    })
    expect(outcome).toMatchObject({ status: 'completed', report: { text: expect.stringContaining(message) } })
    expect(events.filter(({ type }) => type === 'interaction.session.created')).toHaveLength(1)
  })

  it('does not keep a tool from starting a child that makes sense', async () => {
    const parts = [{ type: 'image', mediaType: 'image/png', data: 'aGk=' }] as const
    const { outcome, events } = await run(async (_, { startChild }) => {
      const first = await startChild({ agent: 'nobody', input: parts })
      return first.kind
    })
    expect(outcome.report?.text).toBe('refused')
    expect(events.some(({ type }) => type === 'interaction.subagent.started')).toBe(false)
    const second = await run(async (_, { startChild }) => said(await startChild({ agent: 'kid', input: parts })))
    expect(second.outcome.report?.text).toBe('completed')
  })

  it('cannot be changed once it was given', async () => {
    const parts = [{ type: 'text' as const, text: 'as given' }]
    const { events } = await run(async (_, { startChild }) => {
      const starting = startChild({ agent: 'kid', input: parts })
      ;(parts[0] as { text: string }).text = 'changed'
      return said(await starting)
    })
    const accepted = events.find((event) => event.type === 'interaction.input.accepted' && event.agentPath === 'root/kid#1')
    expect(accepted).toMatchObject({ parts: [{ text: 'as given' }] })
  })
})

describe('a budget that a child uses up', () => {
  it('leaves the parent its last answer', async () => {
    const { outcome } = await team({
      boss: {
        agents: ['kid'],
        limits: { maxTokens: 6_000 },
        script: (request) =>
          request.toolChoice === 'none'
            ? { text: 'In short: done.' }
            : { calls: [{ tool: 'agent__kid', input: { prompt: `more ${request.messages.length}` } }] },
      },
      kid: {
        script: (request) =>
          request.toolChoice === 'none'
            ? { text: 'x'.repeat(400) }
            : { text: 'x'.repeat(9_000), calls: [{ tool: 'nothing', input: { n: request.messages.length } }] },
      },
    }).run()
    expect(outcome).toMatchObject({ status: 'partial', report: { text: 'In short: done.' } })
    expect(outcome.usage.input + outcome.usage.output).toBeLessThanOrEqual(6_000)
  })
})

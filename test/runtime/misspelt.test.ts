import { describe, expect, it } from 'vitest'
import type { ApprovalId, ClientId, Hook } from '../../src/contracts/index.ts'
import { TroupeError } from '../../src/contracts/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { ScriptedModel } from '../../src/testing/index.ts'
import { journalOf, ofType, until } from '../acceptance/support.ts'
import { runtimeWith, tool } from './helpers.ts'

// What a program misspells is told before anything is written.

const talk = () => {
  const store = memoryStore()
  const model = new ScriptedModel([{ text: 'One.' }, { text: 'Two.' }])
  return { store, model, runtime: runtimeWith(model, { store }) }
}

async function told(act: () => unknown): Promise<readonly string[]> {
  try {
    await act()
  } catch (error) {
    if (!(error instanceof TroupeError)) throw error
    expect(error.code).toBe('usage')
    return error.problems.map(({ place, message, remedy }) => `${place}: ${message}. ${remedy}`)
  }
  return []
}

describe('a hook of a program', () => {
  const withHooks = (...hooks: object[]) => {
    try {
      runtimeWith(new ScriptedModel([]), { hooks: hooks as Hook[] })
      return []
    } catch (error) {
      return (error as TroupeError).problems.map(({ place, message, remedy }) => `${place}: ${message}. ${remedy}`)
    }
  }
  const block = () => ({ kind: 'block', reason: 'no' })

  it('with a name that nobody asks is refused: it would guard nothing', () => {
    expect(
      withHooks({ name: 'guard', onFailure: 'closed', before_call: block, on: [] }, { name: 'idle', onFailure: 'open' }, null as never),
    ).toEqual([
      'hooks[0].before_call: unknown key. Did you mean "beforeCall"?',
      'hooks[0].on: unknown key. Known keys: name, onFailure, timeoutMs, tools, beforeCall, afterCall, beforeRequest, atStop, close.',
      'hooks[1]: expected at least one hook function, found none. Set one of beforeCall, afterCall, beforeRequest, atStop.',
      'hooks[2]: expected a hook, found null. Set name, onFailure and one of beforeCall, afterCall, beforeRequest, atStop.',
    ])
  })

  it('has functions where it is asked, and a time above nothing', () => {
    expect(withHooks({ name: 'guard', onFailure: 'closed', beforeCall: 'no', timeoutMs: 0 })).toEqual([
      'hooks[0].timeoutMs: expected milliseconds above 0, found 0. Omit it for one minute.',
      'hooks[0].beforeCall: expected a function, found "no". Omit it if there is none.',
    ])
  })

  it('may be of a class with fields of its own, whose functions are spelt as they should be', () => {
    class Guard {
      readonly name = 'guard'
      readonly onFailure = 'closed'
      readonly seen: string[] = []
      readonly names: string[] = []
      beforeCall = block
      remember(): void {}
    }
    class Blind extends Guard {
      after_call(): void {}
    }
    expect(withHooks(new Guard())).toEqual([])
    expect(withHooks(new Blind())).toEqual(['hooks[0].after_call: unknown key. Did you mean "afterCall"?'])
  })
})

describe('options of a call', () => {
  const wrong = { agnt: 'zz', agent: 5, signal: 'stop' } as never
  const problems = [
    'options.agnt: unknown key. Did you mean "agent"?',
    'options.agent: expected the name of an agent, found 5. Pass a non-empty string.',
    'options.signal: expected an AbortSignal, found "stop". Pass the signal of an AbortController.',
  ]

  it.each(['run', 'stream'] as const)('%s reports all of them together, and starts nothing', async (door) => {
    const { runtime, store, model } = talk()
    expect(await told(() => runtime[door]('Hi', wrong))).toEqual(problems)
    expect(await told(() => runtime[door](' ', { agnt: 'zz' } as never))).toEqual([
      'input: empty. Pass a string, or parts of type text, image or file.',
      problems[0],
    ])
    expect(await told(() => runtime[door]('Hi', null as never))).toHaveLength(1)
    expect([await store.trees.list(), model.requests]).toEqual([[], []])
  })

  it('sessions.start has fewer', async () => {
    const { runtime, store } = talk()
    const { signal } = new AbortController()
    expect(await told(() => runtime.sessions.start('Hi', { signal } as never))).toEqual([
      expect.stringMatching(/^options\.signal: unknown key/),
    ])
    expect(await store.trees.list()).toEqual([])
  })

  it('known ones may be undefined', async () => {
    const { runtime } = talk()
    expect((await runtime.run('Hi', { agent: undefined, signal: undefined } as never)).status).toBe('completed')
  })

  it('sessions.list', async () => {
    const { runtime } = talk()
    expect(await told(() => runtime.sessions.list({ limt: 1 } as never))).toEqual(['filter.limt: unknown key. Did you mean "limit"?'])
  })
})

describe('a message to a tree', () => {
  it('with an unknown mode is not sent', async () => {
    const { runtime, store } = talk()
    const handle = runtime.stream('Hi')
    await handle.outcome
    const before = await journalOf(store, handle.sessionId)
    expect(await told(() => handle.send('More', { mod: 'steer', mode: 'ster', clientId: '' } as never))).toEqual([
      'options.mod: unknown key. Did you mean "mode"?',
      'options.mode: expected "queue" or "steer", found "ster". Did you mean "steer"?',
      'options.clientId: expected an id, found "". Pass a non-empty string.',
    ])
    expect(await told(() => runtime.sessions.cancel(handle.sessionId, 'nonsense' as never, 5 as never))).toEqual([
      'mode: expected "stop" or "interrupt", found "nonsense". Pass one of stop, interrupt.',
      'by: expected a name, found 5. The journal records who did it.',
    ])
    expect(await told(() => runtime.sessions.revoke(handle.sessionId, 'shell' as never))).toEqual([
      'keys: expected a list of keys, found "shell". Pass the keys of grants.',
    ])
    expect(await store.inbox.read(handle.sessionId, 0)).toEqual([])
    expect(await journalOf(store, handle.sessionId)).toEqual(before)
  })

  it('that arrives another way with such a mode is reported in its place', async () => {
    const { runtime, store } = talk()
    const { sessionId: treeId } = await runtime.run('Hi')
    const parts = [{ type: 'text', text: 'x' }] as const
    await store.inbox.add(treeId, 'a' as ClientId, { kind: 'input', parts, mode: 'nonsense' as never })
    await store.inbox.add(treeId, 'b' as ClientId, { kind: 'cancel', mode: 'nonsense' as never, by: 'x' })
    await runtime.sessions.send(treeId, 'More')
    await until('it has answered', async () => ofType(await journalOf(store, treeId), 'interaction.turn.completed').length === 2)
    const events = await journalOf(store, treeId)
    expect(ofType(events, 'interaction.input.accepted').map(({ mode }) => mode)).toEqual(['queue', 'queue'])
    expect(ofType(events, 'interaction.cancel.requested')).toEqual([])
    expect(ofType(events, 'interaction.diagnostic').map(({ diagnostic }) => diagnostic.message)).toEqual([
      'A message to this session was refused: unknown input mode "nonsense"',
      'A message to this session was refused: unknown cancel mode "nonsense"',
    ])
  })
})

describe('an answer', () => {
  const asking = tool('remove', { approval: () => ({ keys: [], summary: 'Remove it' }) })
  const suspended = async () => {
    const store = memoryStore()
    const model = new ScriptedModel([{ calls: [{ tool: 'remove' }] }, { text: 'Done.' }])
    const runtime = runtimeWith(model, { store, tools: [asking], approver: { decide: () => 'suspend' } })
    const { sessionId: treeId } = await runtime.run('Go')
    const [request] = await runtime.sessions.requests(treeId)
    return { store, runtime, treeId, approvalId: request!.id }
  }

  it('to what was never asked is refused, with what is open', async () => {
    const { store, runtime, treeId, approvalId } = await suspended()
    const wrong = runtime.sessions.approve(treeId, { approvalId: 'nope' as ApprovalId, decision: { kind: 'deny' } })
    await expect(wrong).rejects.toMatchObject({ code: 'approval_unknown', remedy: `Open requests: ${approvalId}.` })
    expect(await store.inbox.read(treeId, 0)).toEqual([])
  })

  it('that is invalid is reported with everything else', async () => {
    const { store, runtime, treeId } = await suspended()
    const answer = { approvlId: 'x', decision: { kind: 'aprove' }, by: 5 } as never
    expect(await told(() => runtime.sessions.approve(treeId, answer))).toEqual([
      'answer.approvlId: unknown key. Did you mean "approvalId"?',
      'answer.approvalId: expected the id of a request, found nothing. Pass a non-empty string.',
      expect.stringMatching(/^answer\.decision: expected a decision, found \{"kind":"aprove"\}\. Pass \{ kind: "approve"/),
      'answer.by: expected a name, found 5. The journal records who did it.',
    ])
    expect(await told(() => runtime.sessions.approve(treeId, undefined as never))).toHaveLength(1)
    expect(await store.inbox.read(treeId, 0)).toEqual([])
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { SessionId } from '../../contracts/index.ts'
import type { ActiveSession } from '../../steps/index.ts'
import { addUse, isSameUse, noUse, type OpenSession, OpenSessions, type ResourceUse } from './open-sessions.ts'

/** A session as far as open look at it: what it took, how many calls it has, what it would do next. */
class Puppet {
  static looks = 0
  readonly id: SessionId
  tokens = 0
  children = 0
  callsInFlight = 0
  isAnswered = false

  constructor(id: string) {
    this.id = id as SessionId
  }

  get state() {
    Puppet.looks++
    const usage = { input: this.tokens, output: 0 }
    const turn = { kind: 'open', paidUsd: this.tokens / 8, children: this.children, spent: { usage }, step: { kind: 'ready' } }
    return { sessionId: this.id, turn }
  }

  decide() {
    Puppet.looks++
    return { kind: this.isAnswered ? 'execute' : 'wait' }
  }
}

const asSession = (puppet: Puppet) => puppet as unknown as ActiveSession
const puppetOf = (entry: OpenSession) => entry.session as unknown as Puppet | undefined

function begun(open: OpenSessions, above: OpenSession, name: string): OpenSession {
  const parent = puppetOf(above)
  const entry = open.queueNewChild(name as SessionId, above)
  open.enter(entry)
  if (parent) {
    parent.callsInFlight++
    parent.children++
  }
  open.recount(above)
  open.begin(entry, asSession(new Puppet(name)))
  return entry
}

function ended(open: OpenSessions, entry: OpenSession): void {
  const parent = entry.parent && puppetOf(entry.parent)
  open.remove(entry)
  if (parent) parent.callsInFlight--
}

/** The sum over all below, by looking at each. */
function summed(all: readonly OpenSession[], above: OpenSession): ResourceUse {
  return all.filter((each) => each.parent === above).reduce((sum, each) => addUse(addUse(sum, each.own), summed(all, each)), noUse)
}

/** As it was before anything was counted: by looking at each. */
function isStalled(all: readonly OpenSession[], entry: OpenSession): boolean {
  const puppet = puppetOf(entry)
  if (!puppet) return false
  if (entry.stage === 'waiting') return !puppet.isAnswered
  const calls = all.filter((each) => each.parent === entry && each.stage !== 'leftOpen')
  const started = calls.filter(({ stage }) => stage === 'working' || stage === 'waiting')
  if (calls.some(({ stage }) => stage === 'starting')) return false
  return started.length > 0 && puppet.callsInFlight === calls.length && started.every((child) => isStalled(all, child))
}

it('a request that the previous driver left is not in flight until its session is driven again', () => {
  const turn = {
    kind: 'open',
    paidUsd: 0,
    children: 0,
    spent: { usage: { input: 1, output: 2 } },
    step: { kind: 'asking', reservation: { input: 10, output: 20 } },
  }
  const left = { state: { sessionId: 'left', turn } } as unknown as ActiveSession
  const open = new OpenSessions(asSession(new Puppet('root')))
  const { root } = open
  const entry = open.addLeftOpen(left, root)
  expect(root.descendants).toEqual({ tokens: 33, costUsd: 0, children: 0, inFlight: 0, openTurns: 1 })
  open.queueChild(entry.sessionId, root)
  open.enter(entry)
  open.begin(entry, left)
  expect(root.descendants).toEqual({ tokens: 33, costUsd: 0, children: 0, inFlight: 1, openTurns: 0 })
})

const move = fc.record({
  what: fc.constantFrom(
    'begin',
    'begin',
    'wait',
    'wait',
    'wait',
    'line',
    'enter',
    'rest',
    'take',
    'wait',
    'answer',
    'goOn',
    'call',
    'end',
  ) as fc.Arbitrary<string>,
  who: fc.nat(50),
})

function play(open: OpenSessions, { what, who }: { readonly what: string; readonly who: number }, name: string): void {
  const all = [...open.values()]
  const entry = all[who % all.length]
  if (!entry) return
  const puppet = puppetOf(entry)
  const isWorking = entry.stage === 'working'
  const isLeaf = entry.openChildren === 0 && entry.parent
  if (what === 'begin' && isWorking) begun(open, entry, name)
  if (what === 'line' && isWorking && puppet) {
    open.queueNewChild(name as SessionId, entry)
    puppet.callsInFlight++
  }
  if (what === 'enter' && entry.stage === 'queued') open.enter(entry)
  if (what === 'rest' && isWorking) open.addLeftOpen(asSession(new Puppet(name)), entry)
  if (what === 'take' && puppet) {
    puppet.tokens += 8
    open.recount(entry)
  }
  if (what === 'wait' && isWorking && isLeaf && puppet?.callsInFlight === 0) open.wait(entry)
  if (what === 'answer' && entry.stage === 'waiting' && puppet) puppet.isAnswered = !puppet.isAnswered
  if (what === 'goOn') open.resume(entry)
  if (what === 'call' && isWorking && puppet) puppet.callsInFlight += puppet.callsInFlight > entry.activeCalls ? -1 : 1
  if (what === 'end' && isLeaf && entry.stage === 'leftOpen') open.remove(entry)
  else if (what === 'end' && isLeaf) ended(open, entry)
}

describe('open', () => {
  it('know their descendants, and whether all wait, as a full search would (2, 3)', () => {
    let stalls = 0
    fc.assert(
      fc.property(fc.array(move, { maxLength: 80 }), (moves) => {
        const open = new OpenSessions(asSession(new Puppet('root')))
        for (const [index, each] of moves.entries()) {
          play(open, each, `s${index}`)
          const all = [...open.values()]
          for (const entry of all) expect(isSameUse(entry.descendants, summed(all, entry))).toBe(true)
          expect(open.isStalled).toBe(isStalled(all, open.root))
          stalls += Number(open.isStalled)
        }
      }),
      { numRuns: 500 },
    )
    expect(stalls).toBeGreaterThan(20)
  })

  it('count a child once, from when its call is queued', () => {
    const open = new OpenSessions(asSession(new Puppet('root')))
    const lead = begun(open, open.root, 'lead')
    expect([open.root.children, lead.children]).toEqual([1, 0])
    const inLine = open.queueNewChild('in line' as SessionId, lead)
    expect([open.root.children, lead.children]).toEqual([2, 1])
    const kid = begun(open, lead, 'kid')
    expect([open.root.children, lead.children]).toEqual([3, 2])
    open.remove(inLine)
    expect([open.root.children, lead.children]).toEqual([2, 1])
    // It is in the account of the lead by now.
    ended(open, kid)
    expect([open.root.children, lead.children]).toEqual([2, 1])
  })

  it('are gone when they have ended, and leave no rest of rounding behind (1)', () => {
    const open = new OpenSessions(asSession(new Puppet('root')))
    const kids = Array.from({ length: 100 }, (_, i) => begun(open, open.root, `${i}`))
    for (const [i, kid] of kids.entries()) {
      const puppet = puppetOf(kid)
      if (puppet) puppet.tokens = i / 3
      open.recount(kid)
    }
    for (const kid of kids) ended(open, kid)
    expect(open.size).toBe(0)
    expect(open.root.descendants).toEqual(noUse)
  })

  it('are not stalled while one of them is being got ready; one in line waits for those before it (3)', () => {
    const open = new OpenSessions(asSession(new Puppet('root')))
    open.wait(begun(open, open.root, 'kid'))
    expect(open.isStalled).toBe(true)
    const next = open.queueNewChild('next' as SessionId, open.root)
    const root = puppetOf(open.root)
    if (root) root.callsInFlight++
    expect(open.isStalled).toBe(true)
    open.enter(next)
    expect(open.isStalled).toBe(false)
    ended(open, next)
    expect(open.isStalled).toBe(true)
  })

  it('cost the same whether they are few or five thousand (2, 3)', () => {
    const looks = (count: number): number => {
      const open = new OpenSessions(asSession(new Puppet('root')))
      Puppet.looks = 0
      const kids = Array.from({ length: count }, (_, i) => begun(open, open.root, `${i}`))
      for (const kid of kids) {
        open.recount(kid)
        if (open.root.children > 1e6 || open.root.descendants.tokens > 1e6) throw new Error('too much')
      }
      // All but one wait for a person; whenever something ends, somebody asks whether that was all.
      for (const kid of kids.slice(1)) {
        open.wait(kid)
        expect(open.isStalled).toBe(false)
      }
      for (const kid of kids.slice(1)) {
        open.resume(kid)
        ended(open, kid)
        expect(open.isStalled).toBe(false)
      }
      return Puppet.looks / count
    }
    expect(looks(5_000)).toBeLessThanOrEqual(looks(50) * 1.01)
  })

  it('check sessions that were found busy before all others', () => {
    const open = new OpenSessions(asSession(new Puppet('root')))
    const root = puppetOf(open.root)
    const kids = Array.from({ length: 1_000 }, (_, i) => begun(open, open.root, `${i}`))
    for (const kid of kids) open.wait(kid)
    const last = kids.at(-1) && puppetOf(kids.at(-1) as OpenSession)
    if (!root || !last) throw new Error('nobody is there')
    last.isAnswered = true
    expect(open.isStalled).toBe(false)
    Puppet.looks = 0
    for (let i = 0; i < 1_000; i++) expect(open.isStalled).toBe(false)
    expect(Puppet.looks).toBe(1_000)
    last.isAnswered = false
    expect(open.isStalled).toBe(true)
  })
})

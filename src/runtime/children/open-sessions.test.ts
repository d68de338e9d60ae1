import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { SessionId } from '../../contracts/index.ts'
import type { ActiveSession } from '../../steps/index.ts'
import type { Branch } from './open-session.ts'
import { Branches } from './open-sessions.ts'
import { isSame, nothing, plus, type Use } from './resource-use.ts'

/** A session as far as branches look at it: what it took, how many calls it has, what it would do next. */
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
const puppetOf = (branch: Branch) => branch.session as unknown as Puppet | undefined

function begun(branches: Branches, above: Branch, name: string): Branch {
  const parent = puppetOf(above)
  const branch = branches.expect(name as SessionId, above)
  branches.enter(branch)
  if (parent) {
    parent.callsInFlight++
    parent.children++
  }
  branches.recount(above)
  branches.begin(branch, asSession(new Puppet(name)))
  return branch
}

function ended(branches: Branches, branch: Branch): void {
  const parent = branch.above && puppetOf(branch.above)
  branches.remove(branch)
  if (parent) parent.callsInFlight--
}

/** The sum over all below, by looking at each. */
function summed(all: readonly Branch[], above: Branch): Use {
  return all.filter((each) => each.above === above).reduce((sum, each) => plus(plus(sum, each.own), summed(all, each)), nothing)
}

/** As it was before anything was counted: by looking at each. */
function isStalled(all: readonly Branch[], branch: Branch): boolean {
  const puppet = puppetOf(branch)
  if (!puppet) return false
  if (branch.stage === 'waiting') return !puppet.isAnswered
  const calls = all.filter((each) => each.above === branch && each.stage !== 'resting')
  const started = calls.filter(({ stage }) => stage === 'working' || stage === 'waiting')
  if (calls.some(({ stage }) => stage === 'entering')) return false
  return started.length > 0 && puppet.callsInFlight === calls.length && started.every((child) => isStalled(all, child))
}

it('a request that the driver before left is in flight for nobody until its session is driven again', () => {
  const turn = {
    kind: 'open',
    paidUsd: 0,
    children: 0,
    spent: { usage: { input: 1, output: 2 } },
    step: { kind: 'asking', reservation: { input: 10, output: 20 } },
  }
  const left = { state: { sessionId: 'left', turn } } as unknown as ActiveSession
  const branches = new Branches(asSession(new Puppet('root')))
  const { root } = branches
  const branch = branches.rest(left, root)
  expect(root.below).toEqual({ tokens: 33, costUsd: 0, children: 0, asking: 0, open: 1 })
  branches.attend(branch.sessionId, root)
  branches.enter(branch)
  branches.begin(branch, left)
  expect(root.below).toEqual({ tokens: 33, costUsd: 0, children: 0, asking: 1, open: 0 })
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

function play(branches: Branches, { what, who }: { readonly what: string; readonly who: number }, name: string): void {
  const all = [...branches.values()]
  const branch = all[who % all.length]
  if (!branch) return
  const puppet = puppetOf(branch)
  const isWorking = branch.stage === 'working'
  const isLeaf = branch.size === 0 && branch.above
  if (what === 'begin' && isWorking) begun(branches, branch, name)
  if (what === 'line' && isWorking && puppet) {
    branches.expect(name as SessionId, branch)
    puppet.callsInFlight++
  }
  if (what === 'enter' && branch.stage === 'inLine') branches.enter(branch)
  if (what === 'rest' && isWorking) branches.rest(asSession(new Puppet(name)), branch)
  if (what === 'take' && puppet) {
    puppet.tokens += 8
    branches.recount(branch)
  }
  if (what === 'wait' && isWorking && isLeaf && puppet?.callsInFlight === 0) branches.wait(branch)
  if (what === 'answer' && branch.stage === 'waiting' && puppet) puppet.isAnswered = !puppet.isAnswered
  if (what === 'goOn') branches.goOn(branch)
  if (what === 'call' && isWorking && puppet) puppet.callsInFlight += puppet.callsInFlight > branch.calls ? -1 : 1
  if (what === 'end' && isLeaf && branch.stage === 'resting') branches.remove(branch)
  else if (what === 'end' && isLeaf) ended(branches, branch)
}

describe('branches', () => {
  it('know what is below each of them, and whether all wait, as if they had looked at everybody (2, 3)', () => {
    let stalls = 0
    fc.assert(
      fc.property(fc.array(move, { maxLength: 80 }), (moves) => {
        const branches = new Branches(asSession(new Puppet('root')))
        for (const [index, each] of moves.entries()) {
          play(branches, each, `s${index}`)
          const all = [...branches.values()]
          for (const branch of all) expect(isSame(branch.below, summed(all, branch))).toBe(true)
          expect(branches.isStalled).toBe(isStalled(all, branches.root))
          stalls += Number(branches.isStalled)
        }
      }),
      { numRuns: 500 },
    )
    expect(stalls).toBeGreaterThan(20)
  })

  it('count a child once, from when its call stands in line', () => {
    const branches = new Branches(asSession(new Puppet('root')))
    const lead = begun(branches, branches.root, 'lead')
    expect([branches.root.children, lead.children]).toEqual([1, 0])
    const inLine = branches.expect('in line' as SessionId, lead)
    expect([branches.root.children, lead.children]).toEqual([2, 1])
    const kid = begun(branches, lead, 'kid')
    expect([branches.root.children, lead.children]).toEqual([3, 2])
    branches.remove(inLine)
    expect([branches.root.children, lead.children]).toEqual([2, 1])
    // It is in the account of the lead by now.
    ended(branches, kid)
    expect([branches.root.children, lead.children]).toEqual([2, 1])
  })

  it('are gone when they have ended, and leave no rest of rounding behind (1)', () => {
    const branches = new Branches(asSession(new Puppet('root')))
    const kids = Array.from({ length: 100 }, (_, i) => begun(branches, branches.root, `${i}`))
    for (const [i, kid] of kids.entries()) {
      const puppet = puppetOf(kid)
      if (puppet) puppet.tokens = i / 3
      branches.recount(kid)
    }
    for (const kid of kids) ended(branches, kid)
    expect(branches.size).toBe(0)
    expect(branches.root.below).toEqual(nothing)
  })

  it('are not stalled while one of them is being got ready; one in line waits for those before it (3)', () => {
    const branches = new Branches(asSession(new Puppet('root')))
    branches.wait(begun(branches, branches.root, 'kid'))
    expect(branches.isStalled).toBe(true)
    const next = branches.expect('next' as SessionId, branches.root)
    const root = puppetOf(branches.root)
    if (root) root.callsInFlight++
    expect(branches.isStalled).toBe(true)
    branches.enter(next)
    expect(branches.isStalled).toBe(false)
    ended(branches, next)
    expect(branches.isStalled).toBe(true)
  })

  it('cost the same whether they are few or five thousand (2, 3)', () => {
    const looks = (count: number): number => {
      const branches = new Branches(asSession(new Puppet('root')))
      Puppet.looks = 0
      const kids = Array.from({ length: count }, (_, i) => begun(branches, branches.root, `${i}`))
      for (const kid of kids) {
        branches.recount(kid)
        if (branches.root.children > 1e6 || branches.root.below.tokens > 1e6) throw new Error('too much')
      }
      // All but one wait for a person; whenever something ends, somebody asks whether that was all.
      for (const kid of kids.slice(1)) {
        branches.wait(kid)
        expect(branches.isStalled).toBe(false)
      }
      for (const kid of kids.slice(1)) {
        branches.goOn(kid)
        ended(branches, kid)
        expect(branches.isStalled).toBe(false)
      }
      return Puppet.looks / count
    }
    expect(looks(5_000)).toBeLessThanOrEqual(looks(50) * 1.01)
  })

  it('look again at whoever was found busy before they look at all the others', () => {
    const branches = new Branches(asSession(new Puppet('root')))
    const root = puppetOf(branches.root)
    const kids = Array.from({ length: 1_000 }, (_, i) => begun(branches, branches.root, `${i}`))
    for (const kid of kids) branches.wait(kid)
    const last = kids.at(-1) && puppetOf(kids.at(-1) as Branch)
    if (!root || !last) throw new Error('nobody is there')
    last.isAnswered = true
    expect(branches.isStalled).toBe(false)
    Puppet.looks = 0
    for (let i = 0; i < 1_000; i++) expect(branches.isStalled).toBe(false)
    expect(Puppet.looks).toBe(1_000)
    last.isAnswered = false
    expect(branches.isStalled).toBe(true)
  })
})

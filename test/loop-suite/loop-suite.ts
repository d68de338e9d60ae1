import { describe, expect, it } from 'vitest'
import type { Behaviour } from './behaviour.ts'
import { answers } from './behaviours/answers.ts'
import { calls } from './behaviours/calls.ts'
import { contents } from './behaviours/contents.ts'
import { faults } from './behaviours/faults.ts'
import type { LoopAdapter } from './conversation.ts'

export const behaviours: readonly Behaviour[] = [...answers, ...calls, ...faults, ...contents]

/** The behaviour of the loop over one adapter. What it cannot do is named with the reason, and is not run. */
export function loopSuite(adapter: LoopAdapter): void {
  describe(adapter.name, () => {
    for (const behaviour of behaviours) {
      const reason = adapter.cannot?.[behaviour.name]
      if (reason === undefined) it(`${behaviour.name}: ${behaviour.shows}`, () => behaviour.run(adapter))
      else it.skip(`${behaviour.name}: cannot be had. ${reason}`, () => {})
    }
    it('names only behaviours that exist among those it cannot have', () => {
      expect(behaviours.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(adapter.cannot ?? {})))
    })
  })
}

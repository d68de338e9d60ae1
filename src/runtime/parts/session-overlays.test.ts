import { expect, it } from 'vitest'
import type { TreeId } from '../../contracts/index.ts'
import { TreeOverlays } from './session-overlays.ts'

const tree = (n: number) => `t${n}` as TreeId

it('2. holds active ones, and the last thousand idle ones', () => {
  const overlays = new TreeOverlays({ A: 'runtime' }, {})
  const give = (n: number) => overlays.set(tree(n), overlays.over({ A: String(n) }))
  for (let n = 0; n < 1100; n++) give(n)
  expect(overlays.of(tree(0)).overlay).toEqual({ A: '0' })
  for (let n = 0; n < 1100; n++) if (n !== 5) overlays.setIdle(tree(n))
  expect([0, 5, 98, 101, 1099].map((n) => overlays.of(tree(n)).overlay.A)).toEqual(['runtime', '5', 'runtime', '101', '1099'])
  overlays.resume(tree(101))
  for (let n = 2000; n < 3000; n++) {
    give(n)
    overlays.setIdle(tree(n))
  }
  expect([101, 1099].map((n) => overlays.of(tree(n)).overlay.A)).toEqual(['101', 'runtime'])
})

it('3. a tree that was given none has those of the runtime', () => {
  const overlays = new TreeOverlays({ A: 'runtime' }, {})
  overlays.set(tree(1), overlays.over(undefined))
  expect(overlays.of(tree(1))).toBe(overlays.of(tree(2)))
})
